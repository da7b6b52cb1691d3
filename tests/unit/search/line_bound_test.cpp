// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/search/exact_line.hpp>
#include <brim/search/line_bound.hpp>
#include <brim/search/memory_ladder.hpp>

#include <cstdint>

using namespace brim;
using reason = line_bound::reason;

namespace {

constexpr line_device unit{.forward = 1, .backward_input = 1, .backward_weight = 1, .taken = 2, .kept = 1};

struct comparison {
  int cases = 0, complete = 0, above = 0, tight = 0, best = 0;
};

/// Bound, search and exhaustive search on random lines. `extra` is added to the bound, for a witness.
comparison compare(std::uint64_t seed, int cases, std::int32_t least, ticks extra) {
  detail::random_numbers random(seed);
  comparison seen;
  for (int k = 0; k < cases; ++k) {
    const line_problem problem = samples::random_line(random, least);
    CAPTURE(samples::to_text(problem));
    const ticks bound = lower_bound_of(problem).length + extra;
    const detail::line_found found = detail::search_line(problem, {.operations = 50'000});
    const exact_answer exact = solve_exactly(problem, found.length, 3'000'000);
    ++seen.cases;
    if (!exact.complete) continue;
    ++seen.complete;
    CHECK(exact.found);
    CHECK(exact.length <= found.length);
    if (bound > exact.length) ++seen.above;
    if (bound == exact.length) ++seen.tight;
    if (found.length == exact.length) ++seen.best;
  }
  return seen;
}

}  // namespace

TEST_CASE("the bound of an even line in closed form") {
  // ZB-H1: (p - 1)(forward + backward_input - backward_weight + 4 hop) more than the work.
  for (const ticks hop : {0, 3}) {
    line_device each{.forward = 10, .backward_input = 11, .backward_weight = 7, .hop = hop, .taken = 2, .kept = 1};
    const line_problem problem = samples::even_line(4, 16, each, 4);
    const line_bound bound = lower_bound_of(problem);
    CHECK(bound.length == 16 * 28 + 3 * (10 + 11 - 7 + 4 * hop));
    CHECK(bound.rule == reason::ends);
    CHECK(bound.device == device_index(0));
    CHECK(bound.in_flight == 4);
  }
}

TEST_CASE("each rule binds somewhere") {
  CHECK(lower_bound_of(samples::even_line(4, 16, unit, 0)).rule == reason::load);
  CHECK(lower_bound_of(samples::even_line(4, 16, unit, 0)).length == 48);
  CHECK(lower_bound_of(samples::even_line(4, 1, unit, 0)).rule == reason::ends);
  CHECK(lower_bound_of(samples::even_line(4, 1, unit, 0)).length == 9);
  line_problem late = samples::even_line(3, 8, unit, 0);
  late.devices[1] = {.forward = 5, .backward_input = 0, .backward_weight = 0, .taken = 2, .kept = 1};
  CHECK(lower_bound_of(late).rule == reason::path);
  CHECK(lower_bound_of(late).length == 3 + 5 + 2 + 7 * 5);
  const line_bound memory = lower_bound_of(samples::even_line(4, 4, unit, 1));
  CHECK(memory.rule == reason::memory);
  CHECK(memory.length == 4 * 9);
  CHECK(memory.in_flight == 1);
  line_problem slow = samples::even_line(3, 8, unit, 0);
  slow.devices[1] = {.forward = 5, .backward_input = 5, .backward_weight = 0, .taken = 2, .kept = 1};
  const line_bound tail = lower_bound_of(slow);
  CHECK(tail.rule == reason::tail);
  CHECK(tail.through == device_index(1));
  CHECK(tail.length == 1 + 8 * 10 + 1 + 1);
  slow.goal = length_kind::makespan;
  CHECK(lower_bound_of(slow).length == 1 + 8 * 10 + 1 + 1);
}

TEST_CASE("gaps that whole actions cannot fill") {
  // Each device's gap is 7300, 5200 or 3100 long: forwards of 1000 leave 100 or delay the device above.
  const line_device each{
      .forward = 1000, .backward_input = 1000, .backward_weight = 1000, .hop = 50, .taken = 2, .kept = 1};
  for (const std::int64_t fit : {0, 8}) {
    const line_problem problem = samples::even_line(4, 8, each, fit);
    CHECK(lower_bound_of(problem).rule == reason::steps);
    CHECK(lower_bound_of(problem).length == 24'100);
    CHECK(detail::search_line(problem, {.operations = 1'000'000}).length == 24'100);
  }
}

TEST_CASE("no order that the search finds is shorter than the bound") {
  detail::random_numbers random(3);
  for (int k = 0; k < 1500; ++k) {
    line_problem problem{.microbatches = 1 + random.below(10), .devices = {}, .goal = length_kind::longest_span};
    const line_device each{.forward = 1 + random.below(9),
                           .backward_input = 1 + random.below(9),
                           .backward_weight = random.below(9),
                           .hop = random.below(5)};
    const std::int32_t devices = 2 + random.below(5);
    for (std::int32_t d = 0; d < devices; ++d) {
      line_device here = each;
      if (k % 2 == 0) here.forward += random.below(3);
      if (k % 4 == 0) here.backward_weight += random.below(3);
      if (d + 1 == devices) here.hop = 0;
      here.taken = 4;
      here.kept = k % 3;
      if (k % 5 != 0) here.limit = 4 + random.below(4 * 2 * devices);
      problem.devices.push_back(here);
    }
    CAPTURE(samples::to_text(problem));
    const detail::line_found found = detail::search_line(problem, {.operations = 20'000});
    CHECK(found.length >= found.bound.length);
  }
}

TEST_CASE("the makespan counts from the start of the first device") {
  const line_problem problem = samples::even_line(4, 16, unit, 0, length_kind::makespan);
  CHECK(lower_bound_of(problem).length == 3 + 48);
  CHECK(lower_bound_of(problem).device == device_index(3));
}

TEST_CASE("the bound never exceeds the optimum, and the search mostly reaches it") {
  const comparison positive = compare(1, 2000, 1, 0);
  CHECK(positive.complete == positive.cases);
  CHECK(positive.above == 0);
  CHECK(positive.tight >= 1850);
  CHECK(positive.best >= 1980);
  const comparison instant = compare(2, 1000, 0, 0);  // actions that take no time
  CHECK(instant.complete == instant.cases);
  CHECK(instant.above == 0);
  CHECK(instant.best >= 980);
}

TEST_CASE("this comparison sees a bound that is too high") { CHECK(compare(1, 50, 1, 1).above > 0); }

TEST_CASE("memory that the model does not say exactly is left out of the bound") {
  line_problem problem = samples::even_line(4, 4, unit, 1);
  problem.exact_memory = false;
  CHECK(lower_bound_of(problem).length < 36);
}
