// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <brim/schedule/memory.hpp>
#include <brim/scheme/scheme.hpp>
#include <brim/search/search.hpp>

#include <algorithm>
#include <vector>

using namespace brim;

TEST_CASE("backwards that take longer in halves stay whole where that is shorter") {
  constexpr uniform_memory memory{.activation = 10};
  for (const ticks half : {10, 11, 14, 20})
    for (const int devices : {1, 2, 4})
      for (const int microbatches : {1, 3, 8, 32})
        for (const length_kind goal : {length_kind::makespan, length_kind::longest_span}) {
          const uniform_cost costs{
              .forward = 10, .backward = 20, .backward_input = half, .backward_weight = half, .transfer_time = 1};
          const pipeline_shape step{.devices = devices, .microbatches = microbatches};
          for (const bytes limit : {0, 10 * devices}) {
            search_options options{.goal = goal, .operations = 100'000};
            if (limit > 0) options.memory_limits.assign(static_cast<std::size_t>(devices), limit);
            const search_result result = search(step, costs, memory, options);
            CAPTURE(half);
            CAPTURE(to_string(step));
            CHECK(result.best.program.scheme == "auto");
            CHECK(result.length == length_of(result.best, goal));
            CHECK(result.length <= length_of(simulate(schemes::one_f_one_b{}, step, costs), goal));
            CHECK(result.bound.length <= length_of(simulate(schemes::one_f_one_b{}, step, costs), goal));
            CHECK(result.gap >= 0);
            if (limit > 0) {
              const std::vector<bytes> peaks = peak_memory(result.best, memory);
              CHECK(*std::max_element(peaks.begin(), peaks.end()) <= limit);
            }
          }
        }
}

TEST_CASE("one microbatch on one device is a forward and a whole backward") {
  const uniform_cost costs{.forward = 3, .backward = 5, .backward_input = 4, .backward_weight = 4};
  const search_result result = search({.devices = 1, .microbatches = 1}, costs, uniform_memory{});
  CHECK(result.length == 8);
  CHECK(result.gap == 0);
  CHECK(result.best.program.actions.size() == 2);
}
