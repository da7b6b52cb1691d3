// SPDX-License-Identifier: Apache-2.0
// expect: cost_model: costs.transfer(stage_index) -> ticks
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>

struct mine {
  constexpr brim::ticks duration(const brim::action&, brim::device_index) const { return 1; }
#ifndef NEGATIVE
  constexpr brim::ticks transfer(brim::stage_index) const { return 0; }
#endif
};

brim::timeline use() { return brim::simulate(brim::schemes::gpipe{}, {.devices = 2, .microbatches = 2}, mine{}); }
