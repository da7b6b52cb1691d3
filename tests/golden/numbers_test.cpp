// SPDX-License-Identifier: Apache-2.0
#include "stamped.hpp"

#include <doctest/doctest.h>
#include <brim/model/costs.hpp>
#include <brim/schedule/lower_bound.hpp>
#include <brim/schedule/memory.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

namespace {

using namespace test_support;
using brim::ticks;

double number(const record& row, const char* column) { return std::stod(row.at(column)); }
int integer(const record& row, const char* column) { return std::stoi(row.at(column)); }
ticks to_ticks(double value, double scale) { return static_cast<ticks>(std::llround(value * scale)); }

/// The published figures have six digits.
bool same_six_digits(double ours, double published) {
  return std::abs(ours - published) <= 6e-6 * std::abs(published) + 1e-9;
}

using block = std::tuple<std::string, std::string, std::string>;

void check_perf_model(const std::string& file, std::size_t rows) {
  std::map<block, record> blocks;
  for (const record& row : read_csv("block_times.csv"))
    blocks[{row.at("model"), row.at("gpu"), row.at("b_micro")}] = row;
  CHECK(blocks.size() == 109);
  std::size_t seen = 0;
  for (const record& row : read_csv(file)) {
    ++seen;
    CAPTURE(file);
    CAPTURE(seen);
    const record& times = blocks.at({row.at("model"), row.at("gpu"), row.at("b_micro")});
    const int depth = integer(row, "depth");
    const int n = integer(row, "n_micro");
    const bool recompute = integer(row, "recompute") == 1;
    const ticks forward = to_ticks(number(times, "forward"), 1e6);
    const ticks backward = to_ticks(number(times, "backward"), 1e6) + (recompute ? forward : 0);
    const brim::uniform_cost costs{.forward = forward, .backward = backward};
    const ticks published = integer(row, "c_f") * forward + integer(row, "c_b") * backward;
    const auto check = [&](const brim::timeline& t) {
      CHECK(brim::makespan(t) == published);
      const double bubble = static_cast<double>(brim::makespan(t)) - n * static_cast<double>(forward + backward);
      CHECK(same_six_digits(static_cast<double>(brim::makespan(t)) / 1e6, number(row, "t_pipe_ms")));
      CHECK(same_six_digits(bubble / 1e6, number(row, "t_bubble_ms")));
      CHECK(same_six_digits((n * number(times, "statistics") + number(times, "refresh")) * 1e6 / bubble,
                            number(row, "refresh_ratio")));
      CHECK(brim::bubble_ratio(t) == doctest::Approx(bubble / static_cast<double>(brim::makespan(t))));
    };
    const brim::pipeline_shape shape{.devices = depth, .microbatches = n};
    if (row.at("method") == "gpipe_1f1b") {
      check(brim::simulate(brim::schemes::gpipe{}, shape, costs));
      check(brim::simulate(brim::schemes::one_f_one_b{}, shape, costs));
    } else if (n == depth && forward <= backward) {
      check(brim::simulate(brim::schemes::chimera{}, shape, costs));
    } else {
      // The published formula is that of forward <= backward and one unit. Beyond it there are inner bubbles; and an order
      // read backwards in time is an order with forward and backward exchanged.
      const auto [less, more] = std::minmax(forward, backward);
      const brim::timeline t = brim::simulate(brim::schemes::chimera{}, shape, costs);
      const int units = n / depth;
      CHECK(brim::makespan(t) == (depth + 2 * (units - 1)) * less + units * (2 * depth - 2) * more);
      CHECK(brim::makespan(t) >= published);
    }
  }
  CHECK(seen == rows);
}

}  // namespace

TEST_CASE("the step model of PipeFisher, microbatches = devices") { check_perf_model("perf_model_depth.csv", 504); }
TEST_CASE("the step model of PipeFisher, microbatches = 1, 2, 3 x devices") {
  check_perf_model("perf_model_batch.csv", 2616);
}

TEST_CASE("Chimera's critical path, where the published formula is wrong") {
  std::size_t seen = 0;
  int wrong = 0;
  for (const record& row : read_csv("chimera_critical_path.csv")) {
    ++seen;
    CAPTURE(seen);
    const brim::timeline t = brim::simulate(
        brim::schemes::chimera{}, {.devices = integer(row, "depth"), .microbatches = integer(row, "n_micro")},
        brim::uniform_cost{.forward = integer(row, "forward"), .backward = integer(row, "backward")});
    CHECK(brim::makespan(t) == integer(row, "makespan"));
    if (brim::makespan(t) != integer(row, "published_formula")) ++wrong;
  }
  CHECK(seen == 36);
  CHECK(wrong == 16);
}

TEST_CASE("an independent checker finds the same spans, periods, idle times and peaks") {
  std::map<std::string, int> seen;
  int others = 0;
  for (const record& row : read_csv("computed_checks.csv")) {
    ++seen[row.at("scheme")];
    const brim::pipeline_shape shape{.devices = integer(row, "devices"),
                                     .microbatches = integer(row, "microbatches"),
                                     .chunks = integer(row, "chunks"),
                                     .pairs = integer(row, "pairs")};
    CAPTURE(row.at("scheme"));
    CAPTURE(brim::to_string(shape));
    CAPTURE(row.at("forward"));
    const double unit = 1000.0 * shape.chunks;  // the times are a device's; three digits at most
    brim::uniform_cost costs{.forward = to_ticks(number(row, "forward"), 1000),
                             .backward = to_ticks(number(row, "backward"), 1000),
                             .transfer_time = to_ticks(number(row, "transfer"), unit)};
    if (row.at("backward_weight") != "-") costs.backward_weight = to_ticks(number(row, "backward_weight"), 1000);
    const brim::timeline t =
        with_scheme_or_block(row.at("scheme"), [&](const auto& s) { return brim::simulate(s, shape, costs); });
    if (row.at("scheme") == "zb-v" && shape.microbatches <= shape.devices) {
      // brim has another order for these, and a shorter one unless transfers take as long as half a pass
      const double slack = number(row, "transfer") == 1 ? 65.0 / 64 : 1;
      ++others;
      CHECK(static_cast<double>(brim::makespan(t)) / unit <= slack * number(row, "makespan"));
      CHECK(static_cast<double>(brim::longest_span(t)) / unit <= slack * number(row, "longest_span"));
      continue;
    }
    const auto same = [&](ticks ours, const char* column) {
      CAPTURE(column);
      CHECK(static_cast<double>(ours) / unit == doctest::Approx(number(row, column)).epsilon(1e-6));
    };
    same(brim::makespan(t), "makespan");
    same(brim::longest_span(t), "longest_span");
    if (row.at("period") != "-") {
      if (t.program.where.routes == 1)
        same(brim::period(t), "period");
      else  // the checker lets a stage start its next step before its copies have finished this one
        CHECK(static_cast<double>(brim::period(t)) / unit >= number(row, "period") * (1 - 1e-6));
    }
    CHECK(brim::period(t) <= brim::makespan(t));
    const double bound = static_cast<double>(brim::makespan_bound(t, costs).length) / unit;
    CHECK(bound <= number(row, "bound") * (1 + 1e-6));
    CHECK(number(row, "bound") <= static_cast<double>(brim::makespan(t)) / unit * (1 + 1e-6));
    const std::vector<std::string> idle = split(row.at("idle"), ' ');
    const std::vector<std::string> peak = split(row.at("peak"), ' ');
    REQUIRE(idle.size() == static_cast<std::size_t>(shape.devices));
    for (const brim::device_index d : brim::devices(shape)) {
      CHECK(std::abs(static_cast<double>(brim::makespan(t) - brim::busy_of(t, d)) / unit - std::stod(idle[d.at()])) <
            2e-3);
      CHECK(static_cast<double>(brim::peak_memory(t, brim::uniform_memory{})[d.at()]) / shape.chunks ==
            doctest::Approx(std::stod(peak[d.at()])).epsilon(1e-6));
    }
  }
  CHECK(seen == std::map<std::string, int>{{"1f1b", 32},
                                           {"chimera", 79},
                                           {"eager-1f1b", 27},
                                           {"gems", 24},
                                           {"gpipe", 31},
                                           {"hanayo", 62},
                                           {"interleaved-1f1b", 64},
                                           {"interleaved-zb", 28},
                                           {"looped-bfs", 58},
                                           {"v-half-stamped", 23},
                                           {"v-min-stamped", 26},
                                           {"zb-h1", 32},
                                           {"zb-h2", 21},
                                           {"zb-v", 31}});
  CHECK(others == 7);
}
