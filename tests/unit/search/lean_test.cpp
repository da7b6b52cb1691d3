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

namespace {

/// Takes 3 more while a backward_input runs.
struct with_workspace {
  static bytes at_start(const action& what, device_index) {
    return what.kind == action_kind::forward ? 4 : what.kind == action_kind::backward_input ? 3 : 0;
  }
  static bytes at_end(const action& what, device_index) {
    return what.kind == action_kind::backward_input ? -5 : what.kind == action_kind::backward_weight ? -2 : 0;
  }
  static bytes resident(route_index, stage_index) { return 0; }
};

search_answer stop_at_once(void* calls, const search_progress&) {
  ++*static_cast<int*>(calls);
  return search_answer::stop;
}

}  // namespace

TEST_CASE("what a backward takes for itself counts") {
  CHECK(memory_for(2, {.devices = 1, .microbatches = 6}, with_workspace{}) == std::vector<bytes>{14});
  const search_result lean = search_lean({.devices = 3, .microbatches = 6}, unit, with_workspace{});
  CHECK(lean.length == search({.devices = 3, .microbatches = 6}, unit, with_workspace{}).length);
}

TEST_CASE("a lean search that is stopped asks no more") {
  int calls = 0;
  const uniform_cost slow{.forward = 1000, .backward = 2700, .transfer_time = 130};
  const search_result result = search_lean({.devices = 8, .microbatches = 24}, slow, halves,
                                           {.goal = length_kind::longest_span,
                                            .memory_limits = memory_for(5, {.devices = 8, .microbatches = 24}, halves),
                                            .callback = stop_at_once,
                                            .context = &calls});
  CHECK(calls == 1);
  CHECK(result.gap >= 0);
}

TEST_CASE("the gap is that of the order") {
  const uniform_cost costs{.forward = 3, .backward = 6, .backward_input = 3, .backward_weight = 8, .transfer_time = 8};
  const search_result lean = search_lean({.devices = 4, .microbatches = 11}, costs, uniform_memory{},
                                         {.goal = length_kind::period, .operations = 20'000});
  CHECK(lean.gap == static_cast<double>(lean.length) / static_cast<double>(lean.bound.length) - 1);
}

TEST_CASE("what a number of microbatches needs") {
  CHECK(memory_for(3, {.devices = 2, .microbatches = 4}, halves) == std::vector<bytes>{112, 112});
  CHECK(memory_for(0, {.devices = 1, .microbatches = 4}, halves) == std::vector<bytes>{100});
}
