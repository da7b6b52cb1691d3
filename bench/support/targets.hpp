// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stopwatch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>

#include <benchmark/benchmark.h>

namespace bench {

/// What a benchmark counts, and how many millions of it a second it should reach; 0: no target.
struct target {
  const char* items = "items";
  double millions = 0;
};

/// "best 61.2 M actions/s, goal 50 M: met", from the fastest iteration.
inline std::string verdict(double count, double best_seconds, const target& goal) {
  const double rate = 1e-6 * count / best_seconds;
  char line[160];
  const int used = rate < 1 ? std::snprintf(line, sizeof line, "best %.0f k %s/s", 1e3 * rate, goal.items)
                            : std::snprintf(line, sizeof line, "best %.1f M %s/s", rate, goal.items);
  if (goal.millions == 0 || used < 0) return line;
  char* rest = line + used;
  const std::size_t left = sizeof line - static_cast<std::size_t>(used);
  if (rate >= goal.millions)
    std::snprintf(rest, left, ", goal %.0f M: met", goal.millions);
  else
    std::snprintf(rest, left, ", goal %.0f M: MISSED by %.0f %%", goal.millions, 100 * (1 - rate / goal.millions));
  return line;
}

/// The loop of a benchmark whose `work` handles `count` items an iteration: prints items a second, and how the fastest
/// iteration stands against the goal. Gives that iteration's seconds.
template <class Work>
double run_against(benchmark::State& state, double count, const target& goal, Work work) {
  double best = std::numeric_limits<double>::max();
  for ([[maybe_unused]] auto _ : state) best = std::min(best, seconds(work));
  state.counters[std::string(goal.items) + "/s"] =
      benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["best ns"] = 1e9 * best / count;
  state.SetLabel(verdict(count, best, goal));
  return best;
}

}  // namespace bench
