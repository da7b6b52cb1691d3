// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/search/line_starts.hpp>
#include <brim/search/line_timing.hpp>
#include <brim/search/list_scheduler.hpp>
#include <brim/search/portfolio.hpp>

#include <cstdint>
#include <string>

using namespace brim;
using namespace brim::detail;

namespace {

constexpr line_device unit{.forward = 1, .backward_input = 1, .backward_weight = 1, .taken = 2, .kept = 1};

std::string row_text(const line_order& order, std::size_t device) {
  std::string out;
  for (const std::uint8_t kind : order.row(device)) out += "fbw"[kind];
  return out;
}

}  // namespace

TEST_CASE("the wake tree gives the earliest device, the first of equals") {
  wake_tree tree(5);
  CHECK(tree.empty());
  tree.set(3, 7);
  tree.set(1, 7);
  tree.set(4, 6);
  CHECK(tree.next_device() == 4);
  CHECK(tree.next_time() == 6);
  tree.set(4, list_scheduler::unknown);
  CHECK(tree.next_device() == 1);
  tree.lower(3, 9);
  CHECK(tree.next_device() == 1);
  tree.lower(3, 2);
  CHECK(tree.next_device() == 3);
  tree.clear();
  CHECK(tree.empty());
}

TEST_CASE("the first policy makes a schedule without a bubble where memory allows it") {
  const line_problem problem = samples::even_line(3, 6, unit, 0);
  list_scheduler scheduler(problem);
  std::int64_t operations = 0;
  CHECK(scheduler.run(make_policy(problem, policy_recipes[0], 18), list_scheduler::unknown, operations) == 18);
  CHECK(operations == 3 * 3 * 6);
  CHECK(row_text(scheduler.order(), 0) == "fffffbfbwbwbwbwbww");
  CHECK(row_text(scheduler.order(), 2) == "fbfbfbfbfbfbwwwwww");
}

TEST_CASE("a run ends as soon as it is sure to be too long") {
  const line_problem problem = samples::even_line(4, 64, unit, 1);
  list_scheduler scheduler(problem);
  std::int64_t operations = 0;
  CHECK(scheduler.run(make_policy(problem, policy_recipes[0], 0), 192, operations) == list_scheduler::unknown);
  CHECK(operations < 40);
  CHECK(scheduler.run(make_policy(problem, policy_recipes[0], 0), list_scheduler::unknown, operations) == 64 * 9);
}

TEST_CASE("every recipe gives an order that fits, no longer than it says") {
  random_numbers random(5);
  for (int k = 0; k < 300; ++k) {
    const line_problem problem = samples::random_line(random, k % 2);
    CAPTURE(samples::to_text(problem));
    list_scheduler scheduler(problem);
    line_timing timing(problem);
    for (const policy_recipe& recipe : policy_recipes) {
      std::int64_t operations = 0;
      const ticks length =
          scheduler.run(make_policy(problem, recipe, problem.work(0)), list_scheduler::unknown, operations);
      REQUIRE(length != list_scheduler::unknown);
      CHECK(order_fits(scheduler.order(), problem));
      CHECK(timing.run(scheduler.order()) <= length);
    }
  }
}

TEST_CASE("what fits and what does not") {
  const auto fits = [](const std::string& letters, line_device device) {
    line_order order(1, letters.size() / 3);
    for (std::size_t k = 0; k < letters.size(); ++k)
      order.put(0, k, static_cast<std::uint8_t>(std::string("fbw").find(letters[k])));
    return row_fits(order.row(0), device, static_cast<std::int32_t>(letters.size() / 3));
  };
  line_device device = unit;
  CHECK(fits("ffbbww", device));
  CHECK_FALSE(fits("fbbfww", device));
  CHECK_FALSE(fits("fwbfbw", device));
  CHECK_FALSE(fits("ffbbwb", device));
  device.limit = 3;
  CHECK_FALSE(fits("ffbbww", device));
  CHECK(fits("fbfwbw", device));  // 2, then 1 kept and 2 more
  device.limit = 2;
  CHECK_FALSE(fits("fbfwbw", device));
  CHECK(fits("fbwfbw", device));
}

TEST_CASE("the published schedules by rule") {
  const line_problem problem = samples::even_line(3, 6, unit, 0);
  line_timing timing(problem);
  const line_order h1 = make_fixed_order(problem, {1, 1});
  CHECK(row_text(h1, 0) == "fffbwfbwfbwfbwbwbw");
  CHECK(row_text(h1, 2) == "fbfbfbwfbwfbwfbwww");
  CHECK(timing.run(h1) == 6 * 3 + 2 * (1 + 1 - 1));
  const line_order h2 = make_fixed_order(problem, {2, 2});
  CHECK(timing.run(h2) == 6 * 3);
  CHECK(row_text(make_fixed_order(problem, {1, 0}), 2) == "fbwfbwfbwfbwfbwfbw");
  line_problem limited = samples::even_line(3, 6, unit, 3);
  CHECK(order_fits(h1, limited));
  CHECK_FALSE(order_fits(h2, limited));
}

TEST_CASE("an order that waits in a circle has no length") {
  const line_problem problem = samples::even_line(2, 2, unit, 0);
  line_order order = make_fixed_order(problem, {1, 0});
  const std::string stuck = "ffbbww";
  line_timing timing(problem);
  CHECK(timing.run(order) != line_timing::unknown);
  order.put(0, 1, backward_input_kind);  // f b ... : the second forward stands after the first gradient
  order.put(0, 2, forward_kind);
  CHECK(timing.run(order) != line_timing::unknown);
  for (std::size_t k = 0; k < stuck.size(); ++k)  // the last device wants both forwards first
    order.put(1, k, static_cast<std::uint8_t>(std::string("fbw").find(stuck[k])));
  CHECK(timing.run(order) == line_timing::unknown);
}
