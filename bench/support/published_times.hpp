// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>

#include <string_view>

namespace bench {

/// Kernel times of one Transformer block in microseconds (microbatches of 32 sequences of 128 tokens), and what the
/// paper's plotting scripts give for (N curvature + inversion) / bubble with N = D = 4, 8, 16. Both from the data published
/// with PipeFisher (arXiv 2211.14133, github.com/kazukiosawa/pipe-fisher).
struct published_times {
  std::string_view name;
  brim::ticks forward;
  brim::ticks backward;
  brim::ticks curvature;
  brim::ticks inversion;
  double gpipe_ratio[3];
  double chimera_ratio[3];
};

inline constexpr published_times published_blocks[] = {
    {"Base P100", 9'748, 16'450, 25'547, 71'667, {2.21, 1.51, 1.22}, {5.28, 2.80, 2.09}},
    {"Base V100", 6'065, 9'727, 16'181, 49'094, {2.40, 1.62, 1.30}, {5.85, 3.06, 2.26}},
    {"Base RTX3090", 3'015, 5'087, 6'947, 38'506, {2.73, 1.66, 1.23}, {6.52, 3.08, 2.10}},
    {"Large P100", 16'100, 26'953, 43'500, 126'701, {2.33, 1.58, 1.27}, {5.58, 2.94, 2.18}},
    {"Large V100", 10'386, 16'285, 27'447, 80'846, {2.38, 1.61, 1.30}, {5.85, 3.07, 2.28}},
    {"Large RTX3090", 4'854, 7'777, 10'990, 61'986, {2.80, 1.70, 1.26}, {6.81, 3.21, 2.18}},
};

/// The paper's counts of forwards and backwards on the critical path of a step, for N microbatches on D devices, one
/// block a stage, transfers for nothing.
struct path_counts {
  brim::ticks forwards;
  brim::ticks backwards;

  [[nodiscard]] constexpr brim::ticks length(brim::ticks forward, brim::ticks backward) const {
    return forwards * forward + backwards * backward;
  }
};

[[nodiscard]] constexpr path_counts gpipe_counts(brim::ticks n, brim::ticks d) { return {n + d - 1, n + d - 1}; }

/// Wrong where N > D, unless forward and backward take the same time: see `corrected_chimera_counts`.
[[nodiscard]] constexpr path_counts chimera_counts(brim::ticks n, brim::ticks d) {
  if (n == d) return {n, n + d - 2};
  return {n + d / 2 - 1, n + d / 2 - 1};
}

/// What the order really takes for N a multiple of D and backwards that are no shorter than forwards.
[[nodiscard]] constexpr path_counts corrected_chimera_counts(brim::ticks n, brim::ticks d) {
  const brim::ticks rounds = n / d;
  return {d + 2 * (rounds - 1), rounds * (2 * d - 2)};
}

}  // namespace bench
