// SPDX-License-Identifier: Apache-2.0
// expect: pipeline_scheme: scheme.order(shape, device_index, out) const
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/gpipe.hpp>

struct mine {
  static constexpr std::string_view name = "mine";
#ifndef NEGATIVE
  constexpr void order(const brim::pipeline_shape& shape, brim::device_index d, brim::order_sink& out) const {
#else
  constexpr void order(const brim::pipeline_shape& shape, brim::device_index d, brim::order_sink& out) {
#endif
      brim::schemes::gpipe{}.order(shape, d, out);
}
}
;

brim::timeline use() { return brim::simulate(mine{}, {.devices = 2, .microbatches = 2}, brim::uniform_cost{}); }
