// SPDX-License-Identifier: Apache-2.0
#include "data.hpp"

#include <brim/model/costs.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>
#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace {

using namespace test_support;
using brim::ticks;

/// Rates are printed with four digits: share of the longest span of a device in which it does nothing, all devices being
/// equally loaded.
double rate(const brim::timeline& t) {
  return std::round(1e4 * brim::bubble_ratio(t, brim::length_kind::longest_span)) / 1e4;
}

}  // namespace

TEST_CASE("the 84 published bubble rates of Zero Bubble's tables 5 and 8") {
  int seen = 0;
  for (const record& row : read_csv("zero_bubble_rates.csv")) {
    const auto number = [&](const char* column) { return std::stoi(row.at(column)); };
    const brim::pipeline_shape one{.devices = number("devices"), .microbatches = number("microbatches")};
    const auto costs = [&](ticks factor) {
      const ticks input = number("backward_input");
      const ticks weight = number("backward_weight");
      return brim::uniform_cost{.forward = number("forward"),
                                .backward = input + weight,
                                .backward_input = input,
                                .backward_weight = weight,
                                .transfer_time = factor * number("transfer")};
    };
    const auto check = [&](const auto& scheme, const brim::pipeline_shape& shape, const char* column) {
      ++seen;
      CAPTURE(row.at("model"));
      CAPTURE(brim::to_string(shape));
      CAPTURE(column);
      // a chunk costs its share of the device's time; all times are multiplied by the chunks instead
      CHECK(rate(brim::simulate(scheme, shape, costs(shape.chunks))) == doctest::Approx(std::stod(row.at(column))));
    };
    check(brim::schemes::one_f_one_b{}, one, "rate_1f1b");
    check(brim::schemes::zero_bubble_h1{}, one, "rate_zb_h1");
    check(brim::schemes::zero_bubble_h2{}, one, "rate_zb_h2");
    check(brim::schemes::interleaved_one_f_one_b{},
          {.devices = one.devices, .microbatches = one.microbatches, .chunks = number("chunks")},
          "rate_interleaved_strict");
    CHECK(row.at("rate_interleaved_strict") > row.at("rate_interleaved_published"));
  }
  CHECK(seen == 84);
}
