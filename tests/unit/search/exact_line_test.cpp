// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/search/exact_line.hpp>
#include <brim/search/line_order.hpp>
#include <brim/search/line_timing.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace brim;
using namespace brim::detail;

namespace {

/// Every order of one device with `m` microbatches that fits.
std::vector<std::vector<std::uint8_t>> all_rows(const line_device& device, std::int32_t m) {
  std::vector<std::uint8_t> row;
  for (std::uint8_t kind = 0; kind < 3; ++kind) row.insert(row.end(), static_cast<std::size_t>(m), kind);
  std::vector<std::vector<std::uint8_t>> rows;
  do {
    if (row_fits(row, device, m)) rows.push_back(row);
  } while (std::next_permutation(row.begin(), row.end()));
  return rows;
}

/// The naive way, for two devices: all pairs of rows.
ticks shortest_of_all(const line_problem& problem) {
  line_order order(2, static_cast<std::size_t>(problem.microbatches));
  line_timing timing(problem);
  ticks best = line_timing::unknown;
  for (const auto& first : all_rows(problem.devices[0], problem.microbatches))
    for (const auto& second : all_rows(problem.devices[1], problem.microbatches)) {
      std::copy(first.begin(), first.end(), order.row(0).begin());
      std::copy(second.begin(), second.end(), order.row(1).begin());
      best = std::min(best, timing.run(order));
    }
  return best;
}

}  // namespace

TEST_CASE("branch and bound finds what trying every order finds") {
  random_numbers random(11);
  int seen = 0;
  while (seen < 150) {
    const line_problem problem = samples::random_line(random, seen % 2);
    if (problem.devices.size() != 2 || problem.microbatches > 3) continue;
    ++seen;
    CAPTURE(samples::to_text(problem));
    line_order best;
    const exact_answer answer = solve_exactly(problem, 1000, 1'000'000, &best);
    CHECK(answer.complete);
    REQUIRE(answer.found);
    CHECK(answer.length == shortest_of_all(problem));
    CHECK(order_fits(best, problem));
    CHECK(line_timing(problem).run(best) == answer.length);
    const exact_answer none = solve_exactly(problem, answer.length - 1, 1'000'000);
    CHECK(none.complete);
    CHECK_FALSE(none.found);
  }
}

TEST_CASE("nodes run out without a certificate") {
  const line_problem problem = samples::even_line(4, 8, {.forward = 5, .backward_input = 6, .backward_weight = 4}, 0);
  const exact_answer answer = solve_exactly(problem, 200, 1000);
  CHECK_FALSE(answer.complete);
  CHECK(answer.nodes == 1000);
}

TEST_CASE("a published optimum below what a heuristic finds") {
  // p = 3, m = 6, all 1, room for two microbatches: 25, where the published scheduler gives 27.
  const line_problem problem = samples::even_line(3, 6, {.taken = 2, .kept = 1}, 2);
  const exact_answer answer = solve_exactly(problem, 27, 5'000'000);
  CHECK(answer.complete);
  CHECK(answer.length == 25);
}
