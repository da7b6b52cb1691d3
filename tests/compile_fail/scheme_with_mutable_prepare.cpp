// SPDX-License-Identifier: Apache-2.0
// expect: pipeline_scheme: scheme.prepare(shape) const -> something with the same order(...)
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/gpipe.hpp>

struct mine {
  static constexpr std::string_view name = "mine";
  constexpr void order(const brim::pipeline_shape& shape, brim::device_index d, brim::order_sink& out) const {
    brim::schemes::gpipe{}.order(shape, d, out);
  }
#ifndef NEGATIVE
  constexpr brim::schemes::gpipe prepare(const brim::pipeline_shape&) const { return {}; }
#else
  constexpr brim::schemes::gpipe prepare(const brim::pipeline_shape&) { return {}; }
#endif
};

brim::timeline use() { return brim::simulate(mine{}, {.devices = 2, .microbatches = 2}, brim::uniform_cost{}); }
