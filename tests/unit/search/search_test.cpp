// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/schedule/memory.hpp>
#include <brim/search/search.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

using namespace brim;

namespace {

constexpr pipeline_shape eight{.devices = 8, .microbatches = 16};
constexpr uniform_cost unit{.forward = 1000, .backward = 2000};
constexpr uniform_memory halves{.activation = 4, .released_by_backward_input = 2, .weights = 100};

search_options span_at(std::int64_t in_flight) {
  search_options options{.goal = length_kind::longest_span};
  if (in_flight > 0) options.memory_limits.assign(8, 100 + 4 * in_flight);
  return options;
}

/// What the rest of brim says about a result.
template <class Costs, class Memory>
void check_result(const search_result& result, const Costs& costs, const Memory& memory,
                  const search_options& options) {
  const timeline again = simulate(result.best.program, costs);
  CHECK(again == result.best);
  CHECK(result.best.program.scheme == "auto");
  CHECK(length_of(again, options.goal) == result.length);
  CHECK(result.length >= result.bound.length);
  CHECK(result.gap >= 0);
  const std::vector<bytes> peaks = peak_memory(again, memory);
  for (std::size_t d = 0; d < options.memory_limits.size(); ++d)
    if (options.memory_limits[d] > 0) CHECK(peaks[d] <= options.memory_limits[d]);
}

}  // namespace

TEST_CASE("unit costs, eight devices, memory for 8, 7 and 6 microbatches") {
  const std::array lengths{55'000, 58'000, 61'000};
  for (int k = 0; k < 3; ++k) {
    const search_options options = span_at(8 - k);
    const search_result result = search(eight, unit, halves, options);
    check_result(result, unit, halves, options);
    CHECK(result.length == lengths[static_cast<std::size_t>(k)]);
    CHECK(result.gap == 0);
    CHECK(binding_text(result) == "stage 0: memory, " + std::to_string(8 - k) + " in flight");
  }
}

#if BRIM_HAS_EXCEPTIONS
TEST_CASE("memory that cannot be added up is refused, and any number of operations is taken") {
  const brim::error e = test_support::error_of([] {
    static_cast<void>(search({.devices = 2, .microbatches = 8192}, unit, uniform_memory{.activation = bytes{1} << 50}));
  });
  CHECK(test_support::says(e, error_code::bad_profile, "stage 0", "too much to add up"));
  const auto stop = [](void*, const search_progress&) { return search_answer::stop; };
  const search_result result =
      search({.devices = 8, .microbatches = 24}, unit, halves,
             {.memory_limits = std::vector<bytes>(8, 120), .operations = INT64_MAX, .callback = stop});
  CHECK(result.length >= result.bound.length);
}
#endif

TEST_CASE("without a limit the load binds") {
  const search_result result = search(eight, unit, halves, span_at(0));
  CHECK(result.length == 48'000);
  CHECK(bubble_ratio(result.best, length_kind::longest_span) == 0);
  CHECK(binding_text(result) == "device 0: load");
  const search_result makespan = search(eight, unit, halves);
  CHECK(makespan.length == 48'000 + 7'000);
  CHECK(binding_text(makespan) == "device 7: load");
}

TEST_CASE("one device, one microbatch") {
  for (const length_kind goal : {length_kind::makespan, length_kind::longest_span, length_kind::period}) {
    const search_options options{.goal = goal};
    const search_result one = search(pipeline_shape{}, unit, halves, options);
    check_result(one, unit, halves, options);
    CHECK(one.length == 3000);
    CHECK(one.gap == 0);
    CHECK(search({.devices = 5, .microbatches = 1}, unit, halves, options).length == 11'000);
    CHECK(search({.devices = 1, .microbatches = 7}, unit, halves, options).length == 21'000);
  }
}

TEST_CASE("uneven devices, slow links, all goals") {
  stage_costs costs{};
  for (const ticks f : {7, 11, 9, 12})
    costs.stages.push_back({.forward = f, .backward = f + 9, .backward_input = f + 1, .backward_weight = 8});
  costs.transfers = {2, 0, 5};
  const uniform_memory memory{.activation = 3, .released_by_backward_input = 1};
  const pipeline_shape shape{.devices = 4, .microbatches = 10};
  for (const length_kind goal : {length_kind::makespan, length_kind::longest_span, length_kind::period})
    for (const bytes limit : {0, 3, 5, 9, 12, 30}) {
      search_options options{.goal = goal, .memory_limits = std::vector<bytes>(4, limit), .operations = 300'000};
      options.memory_limits[1] = 0;
      const search_result result = search(shape, costs, memory, options);
      check_result(result, costs, memory, options);
      CHECK(search(shape, costs, memory, options) == result);  // every time the same
    }
}

TEST_CASE("never longer with more memory") {
  const uniform_cost costs{
      .forward = 1000, .backward = 2000, .backward_input = 1300, .backward_weight = 700, .transfer_time = 20};
  const uniform_memory late{.activation = 4};
  ticks before = 0;
  for (bytes fit = 1; fit <= 18; ++fit) {
    search_options options{
        .goal = length_kind::longest_span, .memory_limits = std::vector<bytes>(8, 4 * fit), .operations = 60'000};
    const search_result result = search(eight, costs, late, options);
    check_result(result, costs, late, options);
    if (fit > 1) CHECK(result.length <= before);
    before = result.length;
  }
}

TEST_CASE("the caller sees progress and can stop") {
  struct seen {
    int calls = 0;
    ticks last = 0;
  } watched;
  search_options options = span_at(4);
  options.context = &watched;
  options.callback = [](void* context, const search_progress& progress) {
    seen& here = *static_cast<seen*>(context);
    ++here.calls;
    CHECK(progress.length >= progress.bound);
    if (here.calls > 1) CHECK(progress.length <= here.last);
    here.last = progress.length;
    return here.calls == 2 ? search_answer::stop : search_answer::go_on;
  };
  const search_result result = search(eight, unit, halves, options);
  CHECK(watched.calls == 2);
  CHECK(result.length == watched.last);
  check_result(result, unit, halves, options);
}

TEST_CASE("a half that takes memory has it reserved") {
  struct growing {
    [[nodiscard]] bytes at_start(const action& a, device_index) const { return a.kind == action_kind::forward ? 4 : 0; }
    [[nodiscard]] bytes at_end(const action& a, device_index) const {
      return a.kind == action_kind::backward_input ? 1 : a.kind == action_kind::backward_weight ? -5 : 0;
    }
    [[nodiscard]] bytes resident(route_index, stage_index) const { return 0; }
  };
  const search_options options{.goal = length_kind::makespan, .memory_limits = std::vector<bytes>(8, 11)};
  const line_problem problem = make_line_problem(eight, unit, growing{}, options.memory_limits);
  CHECK(problem.devices[0].taken == 5);
  CHECK(problem.devices[0].kept == 5);
  CHECK_FALSE(problem.exact_memory);
  check_result(search(eight, unit, growing{}, options), unit, growing{}, options);
}

#if BRIM_HAS_EXCEPTIONS
TEST_CASE("what cannot be searched says why") {
  using test_support::error_of;
  const search_options small{.memory_limits = {0, 0, 0, 103}};
  const error e = error_of([&] { static_cast<void>(search(eight, unit, halves, small)); });
  CHECK(e.code() == error_code::over_memory);
  CHECK(std::string(e.what()) == "no schedule: stage 3 needs 104 bytes for one microbatch, limit 103 bytes");
  CHECK(e.site().device == 3);
  CHECK(error_of([&] {
          static_cast<void>(search({.devices = 4, .microbatches = 4, .chunks = 2}, unit, halves));
        }).code() == error_code::refused_shape);
  CHECK(error_of([&] { static_cast<void>(search({.devices = 0}, unit, halves)); }).code() == error_code::bad_shape);
  CHECK(test_support::says(error_of([&] { static_cast<void>(search(eight, uniform_cost{.forward = -1}, halves)); }),
                           error_code::bad_profile, "a duration of -1 ticks"));
  CHECK(error_of([&] { static_cast<void>(search(eight, uniform_cost{.forward = longest_duration}, halves)); }).code() ==
        error_code::bad_profile);
  struct leak : uniform_memory {
    [[nodiscard]] bytes at_end(const action&, device_index) const { return 0; }
  };
  const error leaking = error_of([&] { static_cast<void>(search(eight, unit, leak{{.activation = 4}})); });
  CHECK(leaking.code() == error_code::bad_profile);
  CHECK(std::string(leaking.what()) ==
        "memory of device 0: the halves of a backward must give back what the forward took, but 4 bytes remain");
  struct uneven {
    [[nodiscard]] ticks duration(const action& a, device_index) const { return 1 + a.microbatch.value; }
    [[nodiscard]] ticks transfer(stage_index) const { return 0; }
  };
  CHECK(error_of([&] { static_cast<void>(search(eight, uneven{}, halves)); }).code() == error_code::bad_profile);
}
#endif
