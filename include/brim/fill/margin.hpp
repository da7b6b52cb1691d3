// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>
#include <brim/fill/work.hpp>

namespace brim::detail {

/// What a piece needs of a bubble: its duration and a margin, rounded down. Pieces longer than any step fit nowhere.
[[nodiscard]] constexpr ticks room_for(ticks duration, ticks margin_permille) {
  if (duration > longest_filled_step) return longest_schedule;
  return duration + duration * margin_permille / 1000;
}

/// The longest piece that fits a bubble with its margin.
[[nodiscard]] constexpr ticks longest_fit(ticks bubble, ticks margin_permille) {
  ticks fit = bubble / (1000 + margin_permille) * 1000;
  while (room_for(fit + 1, margin_permille) <= bubble) ++fit;  // fewer than 1000 times
  return fit;
}

}  // namespace brim::detail
