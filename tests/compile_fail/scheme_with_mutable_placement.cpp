// SPDX-License-Identifier: Apache-2.0
// expect: pipeline_scheme: scheme.placement(shape) const -> placement
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/gpipe.hpp>

struct mine {
  static constexpr std::string_view name = "mine";
  constexpr void order(const brim::pipeline_shape& shape, brim::device_index d, brim::order_sink& out) const {
    brim::schemes::gpipe{}.order(shape, d, out);
  }
#ifndef NEGATIVE
  constexpr brim::placement placement(const brim::pipeline_shape& shape) const {
    return brim::one_stage_a_device(shape);
  }
#else
  constexpr brim::placement placement(const brim::pipeline_shape& shape) { return brim::one_stage_a_device(shape); }
#endif
};

brim::timeline use() { return brim::simulate(mine{}, {.devices = 2, .microbatches = 2}, brim::uniform_cost{}); }
