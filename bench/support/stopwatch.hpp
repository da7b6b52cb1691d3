// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <ctime>
#include <limits>

namespace bench {

/// Seconds of processor time that `work` takes: other programs on the machine disturb it less than time on the wall.
template <class Work>
double seconds(Work work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Seconds of the fastest of `repetitions` runs: what the machine can do when nothing disturbs it.
template <class Work>
double least_seconds(int repetitions, Work work) {
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < repetitions; ++i) least = std::min(least, seconds(work));
  return least;
}

}  // namespace bench
