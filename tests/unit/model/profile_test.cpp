// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <doctest/doctest.h>
#include <brim/model/profile.hpp>

#include <limits>

namespace {

using brim::action;
using brim::action_kind;
using brim::device_index;
using brim::stage_index;

brim::profile with_stages(std::size_t count) {
  brim::profile p;
  p.stages.resize(count);
  return p;
}

action on_stage(action_kind kind, int stage) { return {.kind = kind, .stage = stage_index(stage)}; }

}  // namespace

TEST_CASE("one stage, device or link is repeated") {
  brim::profile p = with_stages(1);
  p.stages[0].cost.forward = 7;
  p.links = {.latency = 2, .p2p = {3}};
  p.devices = {{.speed = 2.0, .memory = 5}};
  CHECK(p.duration(on_stage(action_kind::forward, 6), device_index(9)) == 4);  // 3.5, rounded up
  CHECK(p.transfer(stage_index(4)) == 5);
  CHECK(p.device(device_index(3)).memory == 5);
  brim::check_profile(p, brim::looped({.devices = 3, .chunks = 4}));
  p.links.p2p = {};
  CHECK(p.transfer(stage_index(4)) == 2);
  CHECK(brim::profile{}.device(device_index(3)) == brim::device_profile{});
}

TEST_CASE("speed scales and rounds up, never down") {
  brim::profile p = with_stages(1);
  p.devices = {{.speed = 3.0}, {.speed = 0.5}, {.speed = 1.0}};
  CHECK(p.on_device(0, device_index(0)) == 0);
  CHECK(p.on_device(1, device_index(0)) == 1);
  CHECK(p.on_device(3, device_index(0)) == 1);
  CHECK(p.on_device(4, device_index(0)) == 2);
  CHECK(p.on_device(4, device_index(1)) == 8);
  CHECK(p.on_device(brim::longest_duration, device_index(2)) == brim::longest_duration);
  p.devices = {{.speed = 1e-6}};
  CHECK(p.on_device(brim::longest_duration, device_index(0)) ==
        brim::longest_schedule);  // saturates instead of overflowing
}

TEST_CASE("a profile is a memory model") {
  brim::profile p = with_stages(2);
  p.stages[1].memory = {
      .weights = 100, .activations = 10, .released_by_backward_input = 4, .released_by_backward_weight = 6};
  CHECK(p.at_start(on_stage(action_kind::forward, 1), device_index(0)) == 10);
  CHECK(p.at_start(on_stage(action_kind::backward, 1), device_index(0)) == 0);
  CHECK(p.at_end(on_stage(action_kind::forward, 1), device_index(0)) == 0);
  CHECK(p.at_end(on_stage(action_kind::backward, 1), device_index(0)) == -10);
  CHECK(p.at_end(on_stage(action_kind::backward_input, 1), device_index(0)) == -4);
  CHECK(p.at_end(on_stage(action_kind::backward_weight, 1), device_index(0)) == -6);
  CHECK(p.resident(brim::route_index(0), stage_index(1)) == 100);
  CHECK(p.resident(brim::route_index(0), stage_index(0)) == 0);
}

#if BRIM_HAS_EXCEPTIONS
namespace {
using test_support::error_of;
using test_support::says;
constexpr brim::error_code bad = brim::error_code::bad_profile;

brim::error refused(const brim::profile& p) {
  return error_of([&] { brim::check_profile(p, brim::one_stage_a_device({.devices = 3})); });
}
/// A profile of three stages, changed in one place.
template <class Change>
brim::error refused_after(Change change) {
  brim::profile p = with_stages(3);
  p.stages[1].layers.resize(1);
  change(p);
  return refused(p);
}
}  // namespace

TEST_CASE("a profile that does not fit the placement") {
  CHECK(says(refused(with_stages(0)), bad, "no stages"));
  CHECK(says(refused(with_stages(2)), bad, "stages: it lists 2 stages; expected 3"));
  CHECK(says(refused(with_stages(4)), bad, "stages: it lists 4 stages; expected 3"));
  CHECK(says(refused_after([](auto& p) { p.devices.resize(2); }), bad, "devices: it lists 2 devices; expected 3"));
  CHECK(says(refused_after([](auto& p) {
               p.links.p2p = {1, 2, 3};
             }),
             bad, "profile: links.p2p: it lists 3 times; expected 2, one for each boundary"));
  CHECK_NOTHROW(brim::check_profile(with_stages(3), brim::one_stage_a_device({.devices = 3})));
}

TEST_CASE("impossible values are named by stage and field") {
  for (const brim::ticks value : {brim::ticks{-2}, brim::longest_duration + 1, std::numeric_limits<brim::ticks>::max(),
                                  std::numeric_limits<brim::ticks>::min()}) {
    const std::string text = std::to_string(value);
    CHECK(says(refused_after([&](auto& p) { p.stages[1].cost.forward = value; }), bad, "stages[1].forward is " + text));
    CHECK(
        says(refused_after([&](auto& p) { p.stages[1].cost.backward = value; }), bad, "stages[1].backward is " + text));
    CHECK(says(refused_after([&](auto& p) { p.stages[2].cost.backward_input = value; }), bad,
               "stages[2].backward_input is " + text));
    CHECK(says(refused_after([&](auto& p) { p.stages[2].cost.backward_weight = value; }), bad,
               "stages[2].backward_weight is " + text));
    CHECK(says(refused_after([&](auto& p) { p.stages[0].cost.recompute = value; }), bad,
               "stages[0].recompute is " + text));
    CHECK(says(refused_after([&](auto& p) { p.stages[0].cost.optimizer_step = value; }), bad,
               "optimizer_step is " + text));
    CHECK(says(refused_after([&](auto& p) { p.stages[1].memory.weights = value; }), bad, "memory.weights is " + text,
               "bytes"));
    CHECK(says(refused_after([&](auto& p) { p.stages[1].memory.activations = value; }), bad, "memory.activations"));
    CHECK(says(refused_after([&](auto& p) { p.stages[1].memory.released_by_backward_input = value; }), bad,
               "released_by_backward_input"));
    CHECK(says(refused_after([&](auto& p) { p.stages[1].memory.released_by_backward_weight = value; }), bad,
               "released_by_backward_weight"));
    CHECK(says(refused_after([&](auto& p) { p.stages[1].layers[0].statistic_a = value; }), bad,
               "statistic.a is " + text));
    CHECK(says(refused_after([&](auto& p) { p.stages[1].layers[0].statistic_b = value; }), bad, "statistic.b"));
    CHECK(says(refused_after([&](auto& p) { p.stages[1].layers[0].refresh_a = value; }), bad, "refresh.a"));
    CHECK(says(refused_after([&](auto& p) { p.stages[1].layers[0].refresh_b = value; }), bad, "refresh.b"));
    CHECK(says(refused_after([&](auto& p) { p.stages[1].layers[0].precondition = value; }), bad, "precondition"));
    CHECK(says(refused_after([&](auto& p) { p.stages[1].layers[0].saved_inputs = value; }), bad, "saved_inputs"));
    CHECK(says(refused_after([&](auto& p) { p.stages[1].layers[0].saved_errors = value; }), bad, "saved_errors"));
    CHECK(says(refused_after([&](auto& p) { p.stages[1].layers[0].factors = value; }), bad, "factors"));
    CHECK(says(refused_after([&](auto& p) { p.links.latency = value; }), bad, "links.latency"));
    CHECK(says(refused_after([&](auto& p) { p.links.p2p = {value}; }), bad, "links.p2p is " + text));
  }
  for (const double speed :
       {0.0, -1.0, 1e-7, 1e7, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK(says(refused_after([&](auto& p) { p.devices.assign(3, {.speed = speed}); }), bad, "devices[0].speed"));
}
#endif
