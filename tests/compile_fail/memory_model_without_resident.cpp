// SPDX-License-Identifier: Apache-2.0
// expect: memory_model: memory.resident(route_index, stage_index) -> bytes
#include <brim/schedule/memory.hpp>

struct mine {
  constexpr brim::bytes at_start(const brim::action&, brim::device_index) const { return 1; }
  constexpr brim::bytes at_end(const brim::action&, brim::device_index) const { return -1; }
#ifndef NEGATIVE
  constexpr brim::bytes resident(brim::route_index, brim::stage_index) const { return 0; }
#endif
};

std::vector<brim::bytes> use(const brim::timeline& t) { return brim::peak_memory(t, mine{}); }
