// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_order.hpp>
#include <brim/search/line_problem.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace brim::detail {

/// A schedule by rule: device `d` of `p` starts with (p − 1 − d) × `warm_up` forwards, then a forward and a backward_input in
/// turn, each followed by the backward_weight of `delay` × d microbatches ago. 1F1B is {1, 0}, ZB-H1 {1, 1} and ZB-H2 {2, 2}
/// (Qi, Wan, Huang, Lin, "Zero Bubble Pipeline Parallelism", ICLR 2024). Any number of microbatches.
struct fixed_rule {
  std::int32_t warm_up = 1;
  std::int32_t delay = 0;
};

inline constexpr std::array fixed_rules{fixed_rule{1, 1}, fixed_rule{2, 2}, fixed_rule{1, 0}};

[[nodiscard]] inline line_order make_fixed_order(const line_problem& problem, fixed_rule rule) {
  const std::int32_t m = problem.microbatches;
  line_order made(problem.devices.size(), static_cast<std::size_t>(m));
  for (std::int32_t d = 0; d < problem.count(); ++d) {
    const auto row = made.row(static_cast<std::size_t>(d));
    std::size_t at = 0;
    std::int32_t weights = 0;
    const std::int32_t ahead = std::min(m, rule.warm_up * (problem.count() - 1 - d));
    for (std::int32_t n = 0; n < ahead; ++n) row[at++] = forward_kind;
    for (std::int32_t n = 0; n < m; ++n) {
      if (ahead + n < m) row[at++] = forward_kind;
      row[at++] = backward_input_kind;
      if (n >= rule.delay * d) {
        row[at++] = backward_weight_kind;
        ++weights;
      }
    }
    for (; weights < m; ++weights) row[at++] = backward_weight_kind;
  }
  return made;
}

}  // namespace brim::detail
