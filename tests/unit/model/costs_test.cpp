// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <brim/model/costs.hpp>
#include <brim/model/profile.hpp>

#include <utility>

namespace {

using brim::action;
using brim::action_kind;
using brim::device_index;
using brim::stage_index;

action on_stage(action_kind kind, int stage, int route = 0) {
  return {.kind = kind,
          .route = brim::route_index(route),
          .stage = stage_index(stage),
          .microbatch = brim::microbatch_index(0)};
}

}  // namespace

TEST_CASE("a stage cost has a field for every kind of the pipeline and nothing else") {
  const brim::stage_cost cost{
      .forward = 2, .backward = 3, .backward_input = 5, .backward_weight = 7, .recompute = 11, .optimizer_step = 13};
  CHECK(cost.of(action_kind::forward) == 2);
  CHECK(cost.of(action_kind::backward) == 3);
  CHECK(cost.of(action_kind::backward_input) == 5);
  CHECK(cost.of(action_kind::backward_weight) == 7);
  CHECK(cost.of(action_kind::recompute) == 11);
  CHECK(cost.of(action_kind::optimizer_step) == 13);
  CHECK(cost.of(action_kind::statistic) == 0);
  CHECK(cost.of(action_kind::user) == 0);
}

TEST_CASE("halves of a backward that nobody measured") {
  const auto halves = [](const brim::stage_cost& cost) {
    return std::pair(cost.of(action_kind::backward_input), cost.of(action_kind::backward_weight));
  };
  CHECK(halves({.backward = 7}) == std::pair<brim::ticks, brim::ticks>(4, 3));
  CHECK(halves({.backward = 7, .backward_input = 5}) == std::pair<brim::ticks, brim::ticks>(5, 2));
  CHECK(halves({.backward = 7, .backward_weight = 1}) == std::pair<brim::ticks, brim::ticks>(6, 1));
  CHECK(halves({.backward = 7, .backward_input = 5, .backward_weight = 5}) ==
        std::pair<brim::ticks, brim::ticks>(5, 5));
}

TEST_CASE("uniform and per-stage costs") {
  const brim::uniform_cost uniform{.forward = 4, .backward = 9, .recompute = 6, .transfer_time = 2};
  CHECK(uniform.duration(on_stage(action_kind::forward, 3), device_index(0)) == 4);
  CHECK(uniform.duration(on_stage(action_kind::recompute, 3), device_index(0)) == 6);
  CHECK(uniform.transfer(stage_index(5)) == 2);
  const brim::stage_costs uneven{.stages = {{.forward = 1}, {.forward = 8}}, .transfers = {}};
  CHECK(uneven.duration(on_stage(action_kind::forward, 1), device_index(0)) == 8);
  CHECK(uneven.transfer(stage_index(0)) == 0);
  CHECK(brim::stage_costs{.stages = {}, .transfers = {3, 4}}.transfer(stage_index(1)) == 4);
}

TEST_CASE("uniform memory: halves release what a whole backward releases") {
  const brim::uniform_memory memory{.activation = 10, .released_by_backward_input = 4, .weights = 100};
  CHECK(memory.at_start(on_stage(action_kind::forward, 0), device_index(0)) == 10);
  CHECK(memory.at_end(on_stage(action_kind::forward, 0), device_index(0)) == 0);
  CHECK(memory.at_start(on_stage(action_kind::backward, 0), device_index(0)) == 0);
  CHECK(memory.at_end(on_stage(action_kind::backward, 0), device_index(0)) == -10);
  CHECK(memory.at_end(on_stage(action_kind::backward_input, 0), device_index(0)) == -4);
  CHECK(memory.at_end(on_stage(action_kind::backward_weight, 0), device_index(0)) == -6);
  CHECK(memory.resident(brim::route_index(1), stage_index(2)) == 100);
}

TEST_CASE("with_prepared uses the cheaper model where there is one") {
  const brim::placement where = brim::mirrored_pairs({.devices = 2});
  brim::profile profiled;
  profiled.stages.resize(2);
  profiled.stages[0].cost.forward = 10;
  profiled.stages[1].cost.forward = 30;
  profiled.devices = {{.speed = 1}, {.speed = 2}};
  profiled.links = {.latency = 1, .p2p = {5}};
  brim::with_prepared(profiled, where, [&](const auto& placed) {
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(placed)>, brim::placed_costs>);
    for (int r = 0; r < 2; ++r)
      for (int s = 0; s < 2; ++s) {
        const device_index d = where.device_of(brim::route_index(r), stage_index(s));
        const action a = on_stage(action_kind::forward, s, r);
        CHECK(placed.duration(a, d) == profiled.duration(a, d));
      }
    CHECK(placed.duration(on_stage(action_kind::forward, 0, 1), device_index(1)) == 5);
    CHECK(placed.transfer(stage_index(0)) == 6);
  });
  const brim::uniform_cost uniform{};
  CHECK(brim::with_prepared(uniform, where, [&](const auto& same) { return &same == &uniform; }));
}
