// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>

#include <cstdint>
#include <vector>

namespace brim::detail {

/// How the list scheduler chooses on one device. Small integers, so that a search can move them by steps.
struct policy_row {
  /// Codes of `weight_rule` above the shares of eight: wait for the next action while that costs no more idle time than the
  /// goal leaves (`budget`), where a backward_weight can no longer delay the end of the step (`deadline`), or either.
  static constexpr std::int32_t budget = 9, deadline = 10, either = 11;

  std::int32_t cap_before = 1;  ///< forwards ahead of backward_inputs, before the first backward_input
  std::int32_t cap_after = 1;   ///< and afterwards
  std::int32_t target = 1;      ///< below it a forward goes before a backward_input
  std::int32_t hold = 0;        ///< backward_weights that may be due before one of them goes first
  std::int32_t weight_rule =
      budget;                     ///< 0..8: wait where 8 gap < code × backward_weight; `budget`, `deadline`, `either`
  std::int32_t forward_rule = 0;  ///< 0, 9: never wait; 1..8: wait where 8 gap < (9 − code) × forward; 10: budget
  std::int32_t make_room = 0;     ///< 1: a backward_weight never waits while a forward waits for memory only

  friend constexpr bool operator==(const policy_row&, const policy_row&) = default;
};

inline constexpr std::int32_t forward_budget = 10;

/// A row for each device, and the length that the budget and deadline rules aim at.
struct line_policy {
  ticks goal = 0;
  std::vector<policy_row> rows{};

  friend constexpr bool operator==(const line_policy&, const line_policy&) = default;
};

}  // namespace brim::detail
