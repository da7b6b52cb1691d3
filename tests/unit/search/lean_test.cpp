// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <brim/schedule/memory.hpp>
#include <brim/search/lean.hpp>

#include <algorithm>
#include <vector>

using namespace brim;

namespace {

constexpr pipeline_shape eight{.devices = 8, .microbatches = 16};
constexpr uniform_cost unit{.forward = 1000, .backward = 2000};
constexpr uniform_memory halves{.activation = 4, .released_by_backward_input = 2, .weights = 100};

bytes peak_of(const search_result& result) {
  const std::vector<bytes> peaks = peak_memory(result.best, halves);
  return *std::max_element(peaks.begin(), peaks.end());
}

}  // namespace

TEST_CASE("a lean order is as short, with less memory") {
  const search_result any = search(eight, unit, halves);
  const search_result lean = search_lean(eight, unit, halves);
  CHECK(lean.length == any.length);
  CHECK(lean.bound == any.bound);
  CHECK(lean.gap == any.gap);
  CHECK(peak_of(lean) < peak_of(any));
  CHECK(peak_of(lean) <= 100 + 4 * 8);  // as ZB-H1, which is as short
  CHECK(lean.operations >= any.operations);
}

TEST_CASE("one microbatch fewer in flight makes the step longer") {
  const search_result lean = search_lean(eight, unit, halves, {.goal = length_kind::longest_span});
  CHECK(lean.length == 48'000);
  const bytes enough = (peak_of(lean) - 100 + 3) / 4;
  const search_result fewer = search(
      eight, unit, halves, {.goal = length_kind::longest_span, .memory_limits = memory_for(enough - 1, eight, halves)});
  CHECK(fewer.length > lean.length);
}

TEST_CASE("a lean order stays within the limits that were given") {
  search_options options{.memory_limits = memory_for(3, eight, halves)};
  options.memory_limits[2] = 0;  // none
  options.memory_limits[5] -= 4;
  const search_result lean = search_lean(eight, unit, halves, options);
  const std::vector<bytes> peaks = peak_memory(lean.best, halves);
  for (std::size_t d = 0; d < peaks.size(); ++d)
    if (options.memory_limits[d] > 0) CHECK(peaks[d] <= options.memory_limits[d]);
  CHECK(lean.length <= search(eight, unit, halves, options).length);
}

TEST_CASE("what a number of microbatches needs") {
  CHECK(memory_for(3, {.devices = 2, .microbatches = 4}, halves) == std::vector<bytes>{112, 112});
  CHECK(memory_for(0, {.devices = 1, .microbatches = 4}, halves) == std::vector<bytes>{100});
}
