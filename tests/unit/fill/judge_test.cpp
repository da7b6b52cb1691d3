// SPDX-License-Identifier: Apache-2.0
#include "fill_judge.hpp"
#include "samples.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

// The judge must be able to fail: every kind of fault is put into a right table, and must be found.

namespace {

using brim::action_kind;
using brim::filled;
using brim::placed_work;

const brim::timeline& pipeline() {
  static const brim::timeline made = fill_samples::twin_pipeline();
  return made;
}
const brim::kfac_work& work() {
  static const brim::kfac_work made = fill_samples::twin_work();
  return made;
}
const filled& right() {
  static const filled made = brim::fill(pipeline(), work());
  return made;
}

std::string verdict(const filled& table, brim::ticks margin = 50) {
  std::string all;
  for (const std::string& c : test_support::complaints_about(table, pipeline(), work(), margin)) all += c + "\n";
  return all;
}

/// Whether the judge says `text` once `break_it` has had the table. Entries are put back in order, so that only the
/// fault itself can be seen.
template <class Break>
bool finds(std::string_view text, Break break_it) {
  filled table = right();
  break_it(table);
  const auto in_order = [](const placed_work& a, const placed_work& b) {
    return std::tuple(a.replica, a.device, a.step, a.time.start) <
           std::tuple(b.replica, b.device, b.step, b.time.start);
  };
  if (text != "out of order") std::stable_sort(table.work.begin(), table.work.end(), in_order);
  const std::string said = verdict(table);
  if (said.find(text) != std::string::npos) return true;
  MESSAGE(said);
  return false;
}

std::size_t first_of(const filled& table, action_kind kind, brim::side which = brim::side::a) {
  const auto at = std::find_if(table.work.begin(), table.work.end(),
                               [&](const placed_work& w) { return w.what.kind == kind && w.what.side == which; });
  REQUIRE(at != table.work.end());
  return static_cast<std::size_t>(at - table.work.begin());
}

}  // namespace

TEST_CASE("the judge accepts a right table") {
  CHECK(verdict(right()) == "");
  CHECK(right().report.utilization > right().report.utilization_before);
}

TEST_CASE("the judge sees a statistic before its data") {
  CHECK(finds("before its data exist", [](filled& table) {
    placed_work& w = table.work[first_of(table, action_kind::statistic, brim::side::b)];
    w.origin_step = w.step;
    w.time = {0, w.time.length()};
  }));
  CHECK(finds("runs before the step of its statistics", [](filled& table) {
    table.work[first_of(table, action_kind::statistic)].origin_step = table.cycle_length + 1;
  }));
}

TEST_CASE("the judge sees missing, double and mixed work") {
  CHECK(finds("no statistic", [](filled& table) {
    table.work.erase(table.work.begin() + static_cast<std::ptrdiff_t>(first_of(table, action_kind::statistic)));
  }));
  CHECK(finds("refresh of stage", [](filled& table) {
    table.work.erase(table.work.begin() + static_cast<std::ptrdiff_t>(first_of(table, action_kind::refresh)));
  }));
  CHECK(finds("does two things", [](filled& table) {
    const std::size_t at = first_of(table, action_kind::statistic);
    table.work.insert(table.work.begin() + static_cast<std::ptrdiff_t>(at), table.work[at]);
  }));
  CHECK(
      finds("no statistic", [](filled& table) { --table.work[first_of(table, action_kind::statistic)].origin_step; }));
  CHECK(finds("refresh of stage",
              [](filled& table) { --table.work[first_of(table, action_kind::refresh)].origin_step; }));
  CHECK(finds("is called", [](filled& table) { ++table.work[first_of(table, action_kind::refresh)].piece; }));
  CHECK(finds("a piece takes", [](filled& table) { --table.work[first_of(table, action_kind::refresh)].time.end; }));
}

TEST_CASE("the judge sees a refresh before its statistics, and sums at the wrong time") {
  CHECK(finds("before its statistics are there", [](filled& table) {
    placed_work& w = table.work[first_of(table, action_kind::refresh)];
    w.step = std::max(0, w.origin_step);
    w.time = {0, w.time.length()};
  }));
  CHECK(finds("the sum does not start when", [](filled& table) {
    placed_work& w = table.work[first_of(table, action_kind::sync_statistic)];
    w.time = {w.time.start + 1, w.time.end + 1};
  }));
  CHECK(finds("the sum has the wrong length",
              [](filled& table) { ++table.work[first_of(table, action_kind::sync_statistic)].time.end; }));
  CHECK(finds("does not take part in the sum", [](filled& table) {
    table.work.erase(table.work.begin() + static_cast<std::ptrdiff_t>(first_of(table, action_kind::sync_statistic)));
  }));
}

TEST_CASE("the judge sees work where it cannot be") {
  CHECK(finds("does two things", [](filled& table) {
    placed_work& w = table.work[first_of(table, action_kind::statistic)];
    w.time = {table.pipeline.times.front().start + 1, table.pipeline.times.front().start + 1 + w.time.length()};
    w.device = brim::device_index(0);
  }));
  CHECK(finds("which does not have its data", [](filled& table) {
    placed_work& w = table.work[first_of(table, action_kind::statistic)];
    w.device = brim::device_index(3 - w.device.value);
  }));
  CHECK(finds("on another route", [](filled& table) {
    placed_work& w = table.work[first_of(table, action_kind::statistic)];
    w.what.route = brim::route_index(1 - w.what.route.value);
  }));
  CHECK(finds("which does not hold it", [](filled& table) {
    placed_work& w = table.work[first_of(table, action_kind::refresh)];
    w.device = brim::device_index((w.device.value + 1) % 4);
  }));
  CHECK(finds("changes its owner", [](filled& table) {
    for (placed_work& w : table.work)
      if (w.what.kind == action_kind::refresh && w.what.stage.value == 1 && w.what.layer.value == 0)
        w.device = brim::device_index(3 - w.device.value);
  }));
  CHECK(finds("has no place in the table", [](filled& table) { table.work.front().step = table.cycle_length; }));
  CHECK(finds("leaves its step", [](filled& table) {
    table.work[first_of(table, action_kind::refresh)].time.end = table.step_length + 1;
  }));
  CHECK(finds("out of order", [](filled& table) { std::swap(table.work.front(), table.work.back()); }));
  CHECK(finds("is of no layer", [](filled& table) { table.work.front().what.layer = brim::layer_index(9); }));
  CHECK(finds("is no work of K-FAC", [](filled& table) { table.work.front().what.kind = action_kind::forward; }));
}

TEST_CASE("the judge sees three refreshes of a layer in flight") {
  CHECK(finds("refreshes in flight", [](filled& table) {
    const placed_work refresh = table.work[first_of(table, action_kind::refresh)];
    for (placed_work& w : table.work)
      if (w.what.stage == refresh.what.stage && w.what.layer == refresh.what.layer &&
          w.origin_step == refresh.origin_step)
        w.origin_step -= 3 * table.cycle_length;
  }));
}

TEST_CASE("the judge sees a margin that is not kept") {
  CHECK(verdict(right(), 50) == "");
  CHECK(verdict(right(), 9'000).find("has no margin") != std::string::npos);
}

TEST_CASE("the judge sees another pipeline, another step and another tail") {
  CHECK(finds("the pipeline has changed", [](filled& table) { ++table.pipeline.times.back().end; }));
  CHECK(finds("pipeline and tail take", [](filled& table) { ++table.step_length; }));
  CHECK(finds("has a hole", [](filled& table) { ++table.tail.back().time.start; }));
  CHECK(finds("updates of stage", [](filled& table) { table.tail.pop_back(); }));
  CHECK(finds("owners instead of", [](filled& table) {
    std::erase_if(table.tail, [](const placed_work& t) {
      return t.what.kind == action_kind::precondition && t.what.stage.value == 0 && t.what.layer.value == 0;
    });
  }));
  CHECK(finds("the tail holds", [](filled& table) { table.tail.front().what.kind = action_kind::user; }));
}

TEST_CASE("the judge computes every number of the report") {
  CHECK(finds("utilization before of", [](filled& table) { table.report.devices[1].utilization_before += 1e-6; }));
  CHECK(finds("utilization of", [](filled& table) { table.report.devices[1].utilization -= 1e-6; }));
  CHECK(finds("bound of", [](filled& table) { table.report.devices[1].bound += 1e-6; }));
  CHECK(finds("above its bound", [](filled& table) { table.report.devices[1].utilization = 1.5; }));
  CHECK(finds("load of", [](filled& table) { table.report.devices[1].load += 1e-6; }));
  CHECK(finds("refresh interval of", [](filled& table) { table.report.devices[1].refresh_interval += 1; }));
  CHECK(finds("greatest age of", [](filled& table) { --table.report.devices[1].greatest_age; }));
  CHECK(finds("bytes, reported", [](filled& table) { ++table.report.devices[1].kept; }));
  CHECK(finds("precondition of lane", [](filled& table) { ++table.report.devices[1].precondition; }));
  CHECK(finds("mean utilization", [](filled& table) { table.report.utilization -= 1e-6; }));
  CHECK(finds("mean bound", [](filled& table) { table.report.bound -= 1e-6; }));
  CHECK(finds("worst interval", [](filled& table) { table.report.refresh_interval = 0; }));
  CHECK(finds("greatest age", [](filled& table) { ++table.report.greatest_age; }));
  CHECK(finds("greatest memory", [](filled& table) { ++table.report.kept; }));
  CHECK(finds("overhead", [](filled& table) { table.report.overhead += 1e-6; }));
  CHECK(finds("number of devices", [](filled& table) { table.report.devices.pop_back(); }));
}

TEST_CASE("the judge sees a table that does not close at its end") {
  CHECK(finds("no statistic",
              [](filled& table) { ++table.cycle_length; }));  // what goes on in the next cycle comes a step late
}
