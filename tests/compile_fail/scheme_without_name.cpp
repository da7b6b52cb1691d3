// SPDX-License-Identifier: Apache-2.0
// expect: pipeline_scheme: static constexpr std::string_view name
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/gpipe.hpp>

struct mine {
#ifndef NEGATIVE
  static constexpr std::string_view name = "mine";
#endif
  constexpr void order(const brim::pipeline_shape& shape, brim::device_index d, auto& out) const {
    brim::schemes::gpipe{}.order(shape, d, out);
  }
};

brim::timeline use() { return brim::simulate(mine{}, {.devices = 2, .microbatches = 2}, brim::uniform_cost{}); }
