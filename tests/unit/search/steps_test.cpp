// SPDX-License-Identifier: Apache-2.0
// The steps of a search that start from what is there: annealing of policies and orders, descent, fewer microbatches in flight.
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/search/line_starts.hpp>
#include <brim/search/memory_ladder.hpp>
#include <brim/search/order_annealing.hpp>
#include <brim/search/order_polish.hpp>
#include <brim/search/policy_annealing.hpp>
#include <brim/search/portfolio.hpp>
#include <brim/search/search_state.hpp>

#include <cstdint>

using namespace brim;
using namespace brim::detail;

namespace {

/// Room for 3 microbatches on 4 devices: the optimum is 24, the published scheduler gives 29.
const line_problem scarce =
    samples::even_line(4, 6, {.forward = 1, .backward_input = 1, .backward_weight = 1, .taken = 2, .kept = 1}, 3);

}  // namespace

TEST_CASE("annealing of an order, of policies, and descent each shorten a bad start") {
  const line_order worst = [] {  // one microbatch after the other
    line_order made(4, 6);
    for (std::size_t d = 0; d < 4; ++d)
      for (std::size_t k = 0; k < 18; ++k) made.put(d, k, static_cast<std::uint8_t>(k % 3));
    return made;
  }();
  const auto after = [&](auto step) {
    search_state state(scarce, 400'000);
    CHECK(state.try_order(worst) == 6 * 9);
    step(state);
    CHECK(order_fits(state.best, scarce));
    CHECK(line_timing(scarce).run(state.best) == state.best_length);
    return state.best_length;
  };
  CHECK(after([](search_state& s) { order_annealing(s, 1).run(s.best, 400'000); }) == 24);
  CHECK(after([](search_state& s) { order_polish(s).run(s.best, 400'000); }) < 54);
  CHECK(after([](search_state& s) {
          policy_annealing(s, 1).run(make_policy(scarce, policy_recipes[9], 0), 400'000);
        }) == 24);
}

TEST_CASE("never longer than a published schedule that fits, whatever the budget") {
  random_numbers random(4);
  int compared = 0;
  for (int k = 0; k < 300; ++k) {
    line_device each{.forward = 5 + random.below(9),
                     .backward_input = 5 + random.below(9),
                     .backward_weight = 1 + random.below(12),
                     .hop = random.below(3),
                     .taken = 2,
                     .kept = random.below(3)};
    const std::int32_t devices = 2 + random.below(6);
    const line_problem problem =
        samples::even_line(devices, 1 + random.below(20), each, devices + random.below(devices));
    CAPTURE(samples::to_text(problem));
    const ticks found = search_line(problem, {.operations = 1}).length;
    for (const fixed_rule& rule : fixed_rules) {
      const line_order order = make_fixed_order(problem, rule);
      if (!order_fits(order, problem)) continue;
      ++compared;
      CHECK(found <= line_timing(problem).run(order));
    }
  }
  CHECK(compared > 400);
}

TEST_CASE("the budget is kept") {
  const line_problem problem = samples::even_line(
      6, 40, {.forward = 10, .backward_input = 13, .backward_weight = 7, .hop = 1, .taken = 2, .kept = 2}, 4);
  for (const std::int64_t budget : {1'000, 20'000, 100'000}) {
    const line_found found = search_line(problem, {.operations = budget});
    CHECK(found.operations <= budget + 3 * 3 * 6 * 40);
    CHECK(found.length >= found.bound.length);
  }
}

TEST_CASE("fewer microbatches in flight help where a search does badly with more") {
  random_numbers random(9);
  int helped = 0;
  for (int k = 0; k < 400; ++k) {
    line_problem problem{.microbatches = 6 + random.below(8), .devices = {}, .goal = length_kind::longest_span};
    for (std::int32_t d = 0; d < 4; ++d)
      problem.devices.push_back({.forward = 10 + random.below(10),
                                 .backward_input = 10 + random.below(10),
                                 .backward_weight = 5 + random.below(10),
                                 .taken = 2,
                                 .kept = 1});
    CAPTURE(samples::to_text(problem));
    ticks before = list_scheduler::unknown;
    const std::int64_t enough = memory_rungs(problem).at_most(problem.microbatches - 1);
    for (std::int64_t fit = 1; fit <= enough; ++fit) {
      const line_problem limited = with_in_flight(problem, fit);
      const line_found alone = search_line(limited, {.operations = 1});  // the first policy only
      const line_found best = search_ladder(limited, {.operations = 1});
      CHECK(order_fits(best.order, limited));
      CHECK(line_timing(limited).run(best.order) == best.length);
      CHECK(best.length <= alone.length);
      if (memory_rungs(problem).at_most(fit) != fit) continue;
      CHECK(best.length <= before);
      before = best.length;
      if (best.length < alone.length) ++helped;
    }
  }
  CHECK(helped > 0);
}
