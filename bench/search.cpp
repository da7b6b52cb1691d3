// SPDX-License-Identifier: Apache-2.0
// List scheduler, timing of an order, and lower bound: actions a second.
#include "support/targets.hpp"

#include <brim/search/line_bound.hpp>
#include <brim/search/line_timing.hpp>
#include <brim/search/list_scheduler.hpp>
#include <brim/search/portfolio.hpp>

#include <cstdint>

#include <benchmark/benchmark.h>

namespace {

/// Measured times of a 14.6 billion parameter model (Qi, Wan, Huang, Lin, ICLR 2024), room for 2 microbatches a device.
brim::line_problem sample(std::int64_t devices, std::int64_t microbatches) {
  brim::line_problem made{.microbatches = static_cast<std::int32_t>(microbatches)};
  const brim::line_device each{.forward = 11'307,
                               .backward_input = 11'254,
                               .backward_weight = 8'101,
                               .hop = 379,
                               .taken = 4,
                               .kept = 2,
                               .limit = 8 * devices};
  made.devices.assign(static_cast<std::size_t>(devices), each);
  made.devices.back().hop = 0;
  return made;
}

double actions_of(const brim::line_problem& problem) { return 3.0 * problem.count() * problem.microbatches; }

void list_schedule(benchmark::State& state) {
  const brim::line_problem problem = sample(state.range(0), state.range(1));
  brim::detail::list_scheduler scheduler(problem);
  const brim::detail::line_policy policy =
      brim::detail::make_policy(problem, brim::detail::policy_recipes[0], brim::lower_bound_of(problem).length);
  std::int64_t operations = 0;
  bench::run_against(state, actions_of(problem), {"actions", 10}, [&] {
    benchmark::DoNotOptimize(scheduler.run(policy, brim::detail::list_scheduler::unknown, operations));
  });
}
BENCHMARK(list_schedule)->ArgsProduct({{8, 32, 64}, {64, 256, 1024}});

void time_order(benchmark::State& state) {
  const brim::line_problem problem = sample(state.range(0), state.range(1));
  brim::detail::list_scheduler scheduler(problem);
  std::int64_t operations = 0;
  scheduler.run(brim::detail::make_policy(problem, brim::detail::policy_recipes[0], 0),
                brim::detail::list_scheduler::unknown, operations);
  brim::detail::line_timing timing(problem);
  bench::run_against(state, actions_of(problem), {"actions", 0},
                     [&] { benchmark::DoNotOptimize(timing.run(scheduler.order())); });
}
BENCHMARK(time_order)->Args({8, 64})->Args({64, 256});

void lower_bound(benchmark::State& state) {
  const brim::line_problem problem = sample(state.range(0), state.range(1));
  bench::run_against(state, 1, {"bounds", 0}, [&] { benchmark::DoNotOptimize(brim::lower_bound_of(problem)); });
}
BENCHMARK(lower_bound)->Args({8, 64})->Args({64, 256});

}  // namespace
