// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <brim/schedule/static_plan.hpp>
#include <brim/scheme/scheme.hpp>

#include <algorithm>

// A constant plan is the plan of the run-time functions, array by array.

namespace {

using brim::pipeline_shape;

template <class Static>
constexpr bool same(const Static& fixed, const brim::timeline& made) {
  const brim::timeline_view a = fixed;
  const brim::timeline_view b = made;
  return a.scheme == b.scheme && a.shape == b.shape && a.routes == b.routes && a.stages == b.stages &&
         std::ranges::equal(a.holders, b.holders) && std::ranges::equal(a.transfers, b.transfers) &&
         std::ranges::equal(a.actions, b.actions) && std::ranges::equal(a.times, b.times) &&
         std::ranges::equal(a.offsets, b.offsets);
}

template <auto Scheme, pipeline_shape Shape>
bool constant_is_run_time(const char* scheme, brim::ticks expected) {
  static constexpr brim::uniform_cost costs{.forward = 3, .backward = 5, .transfer_time = 2};
  static constexpr auto fixed = brim::static_plan<Scheme, Shape>(costs);
  static_assert(fixed.makespan() >= fixed.period());
  static_assert(fixed.bubble_ratio(brim::length_kind::makespan) >= fixed.bubble_ratio(brim::length_kind::period));
  static_assert(same(fixed, brim::simulate(Scheme, Shape, costs)));
  CAPTURE(scheme);
  CHECK(fixed.makespan() == expected);
  CHECK(fixed.scheme == scheme);
  return same(fixed, brim::simulate(Scheme, Shape, costs));
}

}  // namespace

TEST_CASE("a constant plan is the run-time plan") {
  CHECK(constant_is_run_time<brim::schemes::one_f_one_b{}, pipeline_shape{1, 1}>("1f1b", 8));
  CHECK(constant_is_run_time<brim::schemes::one_f_one_b{}, pipeline_shape{4, 1}>("1f1b", 44));
  CHECK(constant_is_run_time<brim::schemes::gpipe{}, pipeline_shape{3, 5}>("gpipe", 7 * 8 + 8));
  CHECK(constant_is_run_time<brim::schemes::looped_bfs{}, pipeline_shape{2, 5, 1}>("looped-bfs", 6 * 8 + 4));
  const brim::uniform_cost costs{.forward = 3, .backward = 5, .transfer_time = 2};
  const pipeline_shape looped{2, 4, 2};
  CHECK(constant_is_run_time<brim::schemes::interleaved_one_f_one_b{}, pipeline_shape{2, 4, 2}>(
      "interleaved-1f1b", brim::makespan(brim::simulate(brim::schemes::interleaved_one_f_one_b{}, looped, costs))));
  const pipeline_shape pairs{.devices = 4, .microbatches = 6, .pairs = 2};
  CHECK(constant_is_run_time<brim::schemes::chimera{}, pipeline_shape{.devices = 4, .microbatches = 6, .pairs = 2}>(
      "chimera", brim::makespan(brim::simulate(brim::schemes::chimera{}, pairs, costs))));
}

TEST_CASE("the example of the documentation") {
  constexpr auto fixed =
      brim::static_plan<brim::schemes::one_f_one_b{}, pipeline_shape{.devices = 4, .microbatches = 16}>(
          brim::uniform_cost{.forward = 1, .backward = 2});
  static_assert(fixed.makespan() == 3 * (16 + 4 - 1));
  static_assert(fixed.bubble_ratio() > 0.157 && fixed.bubble_ratio() < 0.158);  // 3 / 19
  CHECK(fixed.times.size() == 2 * 4 * 16);
}

TEST_CASE("8 devices x 64 microbatches") {
  constexpr auto fixed =
      brim::static_plan<brim::schemes::one_f_one_b{}, pipeline_shape{.devices = 8, .microbatches = 64}>(
          brim::uniform_cost{});
  static_assert(fixed.makespan() == 3 * (64 + 8 - 1));
  CHECK(same(fixed, brim::simulate(brim::schemes::one_f_one_b{}, {8, 64}, brim::uniform_cost{})));
}

TEST_CASE("uneven stages") {
  constexpr auto costs = [] {
    return brim::stage_costs{.stages = {{.forward = 1, .backward = 3}, {.forward = 4, .backward = 2}},
                             .transfers = {7}};
  };
  constexpr auto fixed = brim::static_plan<brim::schemes::gpipe{}, pipeline_shape{2, 2}>(costs());
  // forwards 0-1, 1-2 | arrive 8, 9: 8-12, 12-16 | backwards 16-18, 18-20 | arrive 25, 27: 25-28, 28-31
  static_assert(fixed.makespan() == 31);
  CHECK(same(fixed, brim::simulate(brim::schemes::gpipe{}, {2, 2}, costs())));
}
