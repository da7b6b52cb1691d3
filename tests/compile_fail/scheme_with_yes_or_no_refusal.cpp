// SPDX-License-Identifier: Apache-2.0
// expect: pipeline_scheme: scheme.refusal(shape) const -> std::string_view
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/gpipe.hpp>

struct mine {
  static constexpr std::string_view name = "mine";
  constexpr void order(const brim::pipeline_shape& shape, brim::device_index d, brim::order_sink& out) const {
    brim::schemes::gpipe{}.order(shape, d, out);
  }
#ifndef NEGATIVE
  constexpr std::string_view refusal(const brim::pipeline_shape& shape) const {
    return shape.devices == 1 ? "needs more than one device" : "";
  }
#else
  constexpr bool refusal(const brim::pipeline_shape& shape) const { return shape.devices == 1; }
#endif
};

brim::timeline use() { return brim::simulate(mine{}, {.devices = 2, .microbatches = 2}, brim::uniform_cost{}); }
