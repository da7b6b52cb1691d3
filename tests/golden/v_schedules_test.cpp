// SPDX-License-Identifier: Apache-2.0
#include "stamped.hpp"

#include <doctest/doctest.h>
#include <brim/core/text.hpp>
#include <brim/model/costs.hpp>
#include <brim/schedule/memory.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace test_support;
using brim::pipeline_shape;
using brim::ticks;

constexpr brim::uniform_cost one_tick{.forward = 1, .backward = 2};  // halves of one tick each

std::string words_of(const brim::order& made, brim::device_index device) {
  std::string out;
  for (const brim::action& a : made.row(device)) {
    const char sign = a.kind == brim::action_kind::forward           ? '+'
                      : a.kind == brim::action_kind::backward_weight ? '*'
                                                                     : '-';
    out += brim::detail::text(out.empty() ? "" : " ", sign, a.stage.value, ':', a.microbatch.value);
  }
  return out;
}

brim::bytes peak_of(const brim::timeline& t, const brim::uniform_memory& memory = {}) {
  const std::vector<brim::bytes> peaks = brim::peak_memory(t, memory);
  return *std::max_element(peaks.begin(), peaks.end());
}

/// Bubble of the busiest span in ticks, equal load on each device.
ticks bubble_of(const brim::timeline& t) { return brim::longest_span(t) - brim::busy_of(t, brim::device_index(0)); }

double four_digits(double ratio) { return std::round(1e4 * ratio) / 1e4; }

}  // namespace

TEST_CASE("zero bubble, V, wave and two-way orders are those of PyTorch, Zero Bubble's code and the papers' rules") {
  std::ifstream in(golden_dir() / "data" / "v_orders.txt");
  REQUIRE(in);
  std::map<std::string, int> equal;
  int shorter = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> head = split(line, ' ');
    REQUIRE(head.size() == 7);
    CAPTURE(line);
    const pipeline_shape shape{.devices = std::stoi(head[2]),
                               .microbatches = std::stoi(head[5]),
                               .chunks = std::stoi(head[3]),
                               .pairs = std::stoi(head[4])};
    const brim::order made =
        with_scheme_or_block(head[1], [&](const auto& scheme) { return brim::make_order(scheme, shape); });
    const bool other_order = head[1] == "zb-v" && shape.devices > 1 && shape.microbatches <= shape.devices;
    for (const brim::device_index d : brim::devices(shape)) {
      REQUIRE(std::getline(in, line));
      if (!other_order) CHECK(words_of(made, d) == line);
    }
    for (const brim::action& a : made.actions) CHECK(a.route == made.where.route_of(a.microbatch));
    ++(other_order ? shorter : equal[head[1]]);
  }
  CHECK(equal == std::map<std::string, int>{
                     {"eager-1f1b", 2}, {"gems", 2},  {"grouped-interleave", 13}, {"hanayo", 4},
                     {"interleaved-zb", 72}, {"seq-1f1b", 1}, {"v-half-stamped", 1}, {"v-min-stamped", 1},
                     {"zb-h1", 12}, {"zb-h2", 7}, {"zb-v", 34}});
  CHECK(shorter == 13);
}

TEST_CASE("bubbles and peaks of V schedules with equal passes, 2 to 24 devices") {
  int seen = 0;
  for (const record& row : read_csv("v_units.csv")) {
    ++seen;
    const auto number = [&](const char* column) { return std::stoi(row.at(column)); };
    const int p = number("devices");
    CAPTURE(p);
    const pipeline_shape shape{.devices = p, .microbatches = 3 * p, .chunks = 2};
    const brim::timeline half = brim::simulate(brim::schemes::v_half{}, shape, one_tick);
    const brim::timeline least = brim::simulate(brim::schemes::v_min{}, shape, one_tick);
    const brim::timeline full = brim::simulate(brim::schemes::zero_bubble_v{}, shape, one_tick);
    CHECK(brim::makespan(half) - 6 * shape.microbatches == number("half_bubble"));
    CHECK(bubble_of(half) == (p == 2 ? 0 : number("half_bubble")));  // their device 0 waits once, ours does not
    CHECK(bubble_of(half) == std::max(0, p % 2 == 0 ? 3 * p - 7 : 3 * p - 4));
    CHECK(bubble_of(least) == number("min_bubble"));
    CHECK(bubble_of(least) == (p % 3 == 0 ? 4 * p - 7 : 4 * p - 5));
    CHECK(bubble_of(full) == number("full_bubble"));
    CHECK(peak_of(half) == number("half_peak"));
    CHECK(peak_of(least) == number("min_peak"));
    CHECK(peak_of(full) == number("full_peak"));
  }
  CHECK(seen == 23);
}

TEST_CASE("V schedules against Zero Bubble's code over its grid of shapes and costs") {
  std::map<std::string, int> seen;
  std::map<std::string, double> longest;
  for (const record& row : read_csv("v_schedules.csv")) {
    const std::string& name = row.at("scheme");
    ++seen[name];
    const auto number = [&](const char* column) { return std::stoi(row.at(column)); };
    const pipeline_shape shape{.devices = number("devices"), .microbatches = number("microbatches"), .chunks = 2};
    CAPTURE(name);
    CAPTURE(brim::to_string(shape));
    CAPTURE(row.at("forward"));
    CAPTURE(row.at("transfer"));
    // a chunk takes half of a device's time; transfers count twice instead
    const brim::uniform_cost costs{.forward = number("forward"),
                                   .backward = number("backward_input") + number("backward_weight"),
                                   .backward_input = number("backward_input"),
                                   .transfer_time = 2 * number("transfer")};
    const brim::timeline t = with_scheme(name, [&](const auto& s) { return brim::simulate(s, shape, costs); });
    const double theirs = 2 * std::stod(row.at("longest_span"));
    const auto span = static_cast<double>(brim::longest_span(t));
    if (name == "zb-v" && shape.microbatches > shape.devices) {
      CHECK(span == theirs);
      CHECK(static_cast<double>(brim::makespan(t)) == 2 * std::stod(row.at("makespan")));
    } else if (name == "zb-v") {
      CHECK(span <= theirs);
      CHECK(static_cast<double>(brim::makespan(t)) <= 2 * std::stod(row.at("makespan")));
    } else {
      if (costs.forward == costs.backward_input && 2 * costs.forward == costs.backward && costs.transfer_time == 0)
        CHECK(span <= theirs);
      longest[name] = std::max(longest[name], span / theirs);
    }
    if (row.at("peak") == "-") continue;
    const brim::bytes peak = peak_of(t, {.activation = 2, .released_by_backward_input = 1});
    if (name == "zb-v" && shape.microbatches > shape.devices)
      CHECK(peak == number("peak"));
    else if (shape.microbatches > shape.devices)
      CHECK(peak <= number("peak"));
    else  // never more than the limit; theirs keep less where they wait more
      CHECK(peak <= 4 * std::min(shape.microbatches, shape.devices));
  }
  CHECK(seen == std::map<std::string, int>{{"v-half", 219}, {"v-min", 219}, {"zb-v", 210}});
  CHECK(longest["v-half"] <= 1);
  CHECK(longest["v-min"] < 1.0123);
}

TEST_CASE("ZB-V's hand order on the inputs of Zero Bubble's table 8") {
  const std::vector<double> published{.0712, .0545, .0280, .0623, .0476, .0246, .0582, .0444, .0229};
  std::size_t seen = 0;
  for (const record& row : read_csv("zero_bubble_rates.csv")) {
    if (row.at("table") != "8") continue;
    REQUIRE(seen < published.size());
    const auto number = [&](const char* column) { return std::stoi(row.at(column)); };
    const brim::uniform_cost costs{.forward = number("forward"),
                                   .backward = number("backward_input") + number("backward_weight"),
                                   .backward_input = number("backward_input"),
                                   .transfer_time = 2 * number("transfer")};
    const brim::timeline t =
        brim::simulate(brim::schemes::zero_bubble_v{}, {number("devices"), number("microbatches"), 2}, costs);
    CHECK(four_digits(brim::bubble_ratio(t, brim::length_kind::longest_span)) == doctest::Approx(published[seen++]));
  }
  CHECK(seen == 9);
}

TEST_CASE("few microbatches: ZB-V takes no more than its shortest possible time where PyTorch's order has gaps") {
  const auto length = [](int p, int m) {
    return brim::makespan(brim::simulate(brim::schemes::zero_bubble_v{}, {p, m, 2}, one_tick));
  };
  CHECK(length(4, 2) == 19);  // 22 in PyTorch
  for (int p = 2; p <= 16; ++p) {
    CHECK(length(p, 1) == 4 * p + 1);  // one microbatch through all stages and back, and one weight half
    CHECK(length(p, p) == 7 * p - 1);  // the first device's forward, then all work of the last one
  }
}

TEST_CASE("Hanayo's length where forward = backward, and its bubbles where a backward takes two forwards") {
  for (int p = 1; p <= 12; ++p)
    for (int waves = 1; waves <= 3; ++waves)
      for (int m = p; m <= 3 * p; m += p)
        CHECK(brim::makespan(brim::simulate(brim::schemes::hanayo{}, {p, m, 2 * waves}, brim::uniform_cost{1, 1})) ==
              4 * waves * m + 2 * p - 2);
  const std::map<int, std::vector<double>> bubbles{{4, {.2727, .1579, .0857}}, {8, {.3043, .1795, .0986}}};
  for (const auto& [p, published] : bubbles)
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(four_digits(brim::bubble_ratio(brim::simulate(brim::schemes::hanayo{}, {p, 2 * p, 2 << i},
                                                          brim::uniform_cost{1, 2}))) == doctest::Approx(published[i]));
}

TEST_CASE("BitPipe reaches its published bubble, and the greedy orders' where a backward takes two forwards") {
  const auto bubble = [](int p, int m, int slots) {
    return brim::bubble_ratio(brim::simulate(brim::schemes::bitpipe{slots}, {p, m, 2}, brim::uniform_cost{1, slots}));
  };
  for (const int p : {2, 4, 6, 8, 10, 12})
    for (int m = p; m <= 6 * p; m += p) {
      const pipeline_shape shape{p, m, 2};
      const brim::timeline t = brim::simulate(brim::schemes::bitpipe{}, shape, brim::uniform_cost{1, 1});
      CAPTURE(brim::to_string(shape));
      CHECK(brim::bubble_ratio(t) == doctest::Approx((p - 2) / (4.0 * m + p - 2)));
      CHECK(peak_of(t) <= 2 * p);
    }
  CHECK(four_digits(bubble(4, 4, 2)) == .1429);
  CHECK(four_digits(bubble(4, 8, 2)) == .0943);
  CHECK(four_digits(bubble(8, 8, 2)) == .2131);
  CHECK(four_digits(bubble(8, 32, 2)) == .0495);
  const brim::timeline most = brim::simulate(brim::schemes::bitpipe{2}, {8, 32, 2}, brim::uniform_cost{1, 2});
  CHECK(peak_of(most) == 27);  // 13.5 microbatches
}

TEST_CASE("8 devices and 24 microbatches, one line a scheme") {
  const auto makespan = [](const auto& scheme, int chunks, bool profiled) {
    const brim::uniform_cost costs{.forward = profiled ? 18522 : 1000,
                                   .backward = profiled ? 27423 : 2000,
                                   .backward_input = profiled ? 18086 : 1000,
                                   .transfer_time = profiled ? 601 * chunks : 0};
    return static_cast<double>(brim::makespan(brim::simulate(scheme, {8, 24, chunks}, costs))) / (1000.0 * chunks);
  };
  const auto check = [&](const auto& scheme, int chunks, double equal, double profiled) {
    CAPTURE(scheme.name);
    CHECK(makespan(scheme, chunks, false) == doctest::Approx(equal));
    CHECK(makespan(scheme, chunks, true) == doctest::Approx(profiled).epsilon(1e-5));
  };
  check(brim::schemes::zero_bubble_v{}, 2, 75.5, 1189.27);
  check(brim::schemes::v_min{brim::schemes::block_form::stamped}, 2, 85.5, 1660.89);
  check(brim::schemes::v_half{brim::schemes::block_form::stamped}, 2, 85, 1380.20);
  check(brim::schemes::hanayo{}, 2, 100, 1474.55);
  check(brim::schemes::hanayo{}, 4, 86, 1366.74);
  check(brim::schemes::gems{}, 1, 415, 5944.57);
}
