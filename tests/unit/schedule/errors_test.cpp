// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <doctest/doctest.h>
#include <brim/model/profile.hpp>
#include <brim/schedule/memory.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>

#include <limits>
#include <string>
#include <utility>

#if BRIM_HAS_EXCEPTIONS
namespace {
using brim::action_kind;
using brim::device_index;
using brim::error_code;
using brim::microbatch_index;
using brim::order;
using brim::stage_index;
using brim::ticks;
using brim::uniform_cost;
using test_support::error_of;
using test_support::says;

template <class Costs>
brim::error stopped(const order& program, const Costs& costs) {
  return error_of([&] { static_cast<void>(brim::simulate(program, costs)); });
}

/// What `simulate` says about the GPipe order of two devices and two microbatches after a change.
/// Row of device d: 4 d + { forward 0, forward 1, backward 0, backward 1 }.
template <class Change>
brim::error after(Change change) {
  order program = brim::make_order(brim::schemes::gpipe{}, {2, 2});
  change(program);
  return stopped(program, uniform_cost{});
}

struct crossed {  // devices 1 and 2 wait for each other, device 0 has nothing to wait for but them
  static constexpr std::string_view name = "crossed";
  constexpr void order(const brim::pipeline_shape&, device_index d, auto& out) const {
    const stage_index s = brim::stage_of(d);
    if (d.value == 0) out.forward(s, microbatch_index(0));
    if (d.value == 1) out.backward(s, microbatch_index(0)), out.forward(s, microbatch_index(0));
  }
};

struct listed {
  static constexpr std::string_view name = "listed";
  int variant;
  constexpr void order(const brim::pipeline_shape&, device_index, auto& out) const {
    constexpr stage_index s(0);
    constexpr microbatch_index m(0);
    out.forward(s, m);
    if (variant == 3) out.backward(s, m), out.backward_input(s, m);
    if (variant == 3) return;
    out.backward_input(s, m);
    if (variant == 0) out.backward_input(s, m);
    if (variant == 1) out.backward(s, m);
    out.backward_weight(s, m);
    if (variant == 2) out.backward_weight(s, m);
  }
};

struct forward_only {
  static constexpr std::string_view name = "forward-only";
  constexpr void order(const brim::pipeline_shape& shape, device_index d, auto& out) const {
    for (const microbatch_index m : brim::microbatches(shape)) out.forward(brim::stage_of(d), m);
  }
};

struct nothing {
  static constexpr std::string_view name = "nothing";
  constexpr void order(const brim::pipeline_shape&, device_index, auto&) const {}
};

}  // namespace

TEST_CASE("a deadlock shows the grid with the stuck cell and names the device") {
  const brim::error e =
      after([](order& o) { std::swap(o.actions[4], o.actions[6]); });  // device 1: backward before forward
  CHECK(says(e, error_code::deadlock, "gpipe: deadlock: device 0 cannot start backward stage 0 microbatch 0",
             "ok forward stage 0 microbatch 1, [backward stage 0 microbatch 0], backward stage 0 microbatch 1  waits "
             "for backward stage 1 microbatch 0",
             "device 1: [backward stage 1 microbatch 0], forward stage 1 microbatch 1"));
  CHECK(e.site() == brim::error_site{.device = 0, .stage = 0, .microbatch = 0});
}

TEST_CASE("a device that is done is not called stuck, and the grid stays small") {
  order program = brim::make_order(brim::schemes::gpipe{}, {40, 8});
  std::swap(program.actions[program.offsets[1]], program.actions[program.offsets[1] + 8]);
  const brim::error e = stopped(program, uniform_cost{});
  CHECK(says(e, error_code::deadlock, "device 0: ... ", "\n  ..."));
  CHECK(std::string(e.what()).size() < 4000);

  const brim::error half = error_of([] { static_cast<void>(brim::simulate(crossed{}, {2, 1}, uniform_cost{})); });
  CHECK(says(half, error_code::deadlock, "device 1 cannot start", "device 0: finished"));
  CHECK(half.site().device == 1);
}

TEST_CASE("a deadlock across routes names the route") {
  order program = brim::make_order(brim::schemes::chimera{}, {2, 2});
  for (std::size_t d = 0; d < 2; ++d) std::swap(program.actions[4 * d], program.actions[4 * d + 1]);
  CHECK(says(stopped(program, uniform_cost{}), error_code::deadlock, "[forward stage 1 microbatch 1 route 1]",
             "waits for forward stage 0 microbatch 1 route 1"));
}

TEST_CASE("an order that is not a schedule") {
  constexpr error_code bad = error_code::bad_order;
  CHECK(says(after([](order& o) { o.actions[1] = o.actions[0]; }), bad, "device 0: forward stage 0 microbatch 0",
             "stands twice"));
  CHECK(says(after([](order& o) { o.actions[7] = o.actions[6]; }), bad, "device 1: backward stage 1 microbatch 0",
             "stands twice"));
  CHECK(
      says(after([](order& o) { o.actions[3] = o.actions[0]; }), bad, "forward stage 0 microbatch 0", "stands twice"));
  CHECK(says(after([](order& o) { std::swap(o.actions[0], o.actions[4]); }), bad, "device 0: forward stage 1",
             "another device holds this stage"));
  CHECK(says(after([](order& o) { o.actions[0].stage = stage_index(2); }), bad, "no such stage"));
  CHECK(says(after([](order& o) { o.actions[0].stage = stage_index(-1); }), bad, "no such stage"));
  CHECK(says(after([](order& o) { o.actions[0].microbatch = microbatch_index(2); }), bad, "no such microbatch"));
  CHECK(says(after([](order& o) { o.actions[0].microbatch = microbatch_index(std::numeric_limits<int>::min()); }), bad,
             "no such microbatch"));
  CHECK(says(after([](order& o) { o.actions[0].route = brim::route_index(1); }), bad, "no such route"));
  CHECK(says(after([](order& o) { o.actions[0].route = brim::route_index(-1); }), bad, "no such route"));
  CHECK(says(after([](order& o) { o.actions[0].kind = action_kind::recompute; }), bad, "recompute",
             "only forwards and backwards"));
  CHECK(says(after([](order& o) { o.actions[2].kind = action_kind::backward_weight; }), bad,
             "does not follow the backward_input"));
  CHECK(
      says(after([](order& o) { o.actions[2].kind = action_kind::backward_input; }), bad, "lacks 1 backward_weights"));

  order routes = brim::make_order(brim::schemes::chimera{}, {2, 2});
  routes.actions[0].route = brim::route_index(1);
  CHECK(says(stopped(routes, uniform_cost{}), bad, "the microbatch takes another route"));
}

TEST_CASE("a half twice, or after its whole") {
  const auto with = [](int variant) {
    return error_of([&] { static_cast<void>(brim::simulate(listed{variant}, {1, 1}, uniform_cost{})); });
  };
  CHECK(says(with(0), error_code::bad_order, "backward_input stage 0 microbatch 0", "twice"));
  CHECK(says(with(1), error_code::bad_order, "backward stage 0 microbatch 0", "twice"));
  CHECK(says(with(2), error_code::bad_order, "does not follow"));
  CHECK(says(with(3), error_code::bad_order, "backward_input stage 0", "twice"));
  CHECK(brim::makespan(brim::simulate(listed{4}, {1, 1}, uniform_cost{})) == 3);
}

TEST_CASE("an order with actions missing") {
  const brim::error backwards = error_of([] {
    static_cast<void>(brim::simulate(forward_only{}, {2, 3}, uniform_cost{}));
  });
  CHECK(says(backwards, error_code::bad_order, "forward-only: the order has 0 backwards, a step needs 6",
             "microbatches=3"));
  const brim::error none = error_of([] { static_cast<void>(brim::simulate(nothing{}, {2, 3}, uniform_cost{})); });
  CHECK(says(none, error_code::bad_order, "has 0 forwards, a step needs 6"));
}

TEST_CASE("an edited order whose parts do not fit each other") {
  constexpr error_code bad = error_code::bad_order;
  CHECK(says(after([](order& o) { o.shape.devices = 3; }), bad, "placement does not fit its shape"));
  CHECK(says(after([](order& o) { o.shape.microbatches = 0; }), bad, "placement does not fit its shape"));
  CHECK(says(after([](order& o) { o.where.routes = 0; }), bad, "placement does not fit its shape"));
  CHECK(says(after([](order& o) { o.where.stages = 1 << 30; }), bad, "too many stages"));
  CHECK(says(after([](order& o) { o.where.holders.pop_back(); }), bad, "routes * stages"));
  CHECK(says(after([](order& o) { o.where.holders[0] = device_index(2); }), bad, "a device that there is not"));
  CHECK(says(after([](order& o) { o.where.holders[0] = device_index(-1); }), bad, "a device that there is not"));
  CHECK(says(after([](order& o) { o.offsets.pop_back(); }), bad, "rows must cover"));
  CHECK(says(after([](order& o) { o.offsets.clear(); }), bad, "rows must cover"));
  CHECK(says(after([](order& o) { o.actions.pop_back(); }), bad, "rows must cover"));
  CHECK(says(after([](order& o) { o.offsets[1] = 9; }), bad, "rows must follow each other"));
  CHECK(says(stopped(order{}, uniform_cost{}), bad, "routes * stages"));
}

TEST_CASE("times that are negative or overflow are refused before they are added") {
  const order program = brim::make_order(brim::schemes::one_f_one_b{}, {4, 8});
  constexpr ticks greatest = std::numeric_limits<ticks>::max();
  constexpr error_code bad = error_code::bad_profile;
  CHECK(says(stopped(program, uniform_cost{.forward = -1}), bad, "gives a time of -1 ticks"));
  CHECK(says(stopped(program, uniform_cost{.backward = std::numeric_limits<ticks>::min()}), bad, "expected 0 or more"));
  CHECK(says(stopped(program, uniform_cost{.transfer_time = -7}), bad, "-7 ticks"));
  CHECK(says(stopped(program, uniform_cost{.forward = greatest}), bad, std::to_string(greatest), "2^61"));
  CHECK(says(stopped(program, uniform_cost{.backward = greatest}), bad, "2^61"));
  CHECK(says(stopped(program, uniform_cost{.transfer_time = greatest}), bad, "2^61"));
  // 32 cells: the limit is 2^61 / 160
  constexpr ticks limit = brim::longest_schedule / 160;
  CHECK(brim::makespan(
            brim::simulate(program, uniform_cost{.forward = limit, .backward = limit, .transfer_time = limit})) <=
        brim::longest_schedule);
  CHECK(says(stopped(program, uniform_cost{.forward = limit + 1}), bad, "2^61"));
}

TEST_CASE("a profile that does not fit says so") {
  brim::profile p;
  p.stages.resize(3);
  CHECK(says(error_of([&] {
               static_cast<void>(brim::simulate(brim::schemes::gpipe{}, {2, 2}, p));
             }),
             error_code::bad_profile, "stages: it lists 3 stages; expected 2"));
  p.stages.resize(1);
  p.stages[0].cost.forward = brim::longest_duration;
  p.devices = {{.speed = 1e-6}};
  CHECK(says(error_of([&] {
               static_cast<void>(brim::simulate(brim::schemes::gpipe{}, {2, 2}, p));
             }),
             error_code::bad_profile, "2^61"));
}

TEST_CASE("a device over its memory limit is named with both numbers") {
  const brim::timeline t = brim::simulate(brim::schemes::gpipe{}, {2, 8}, uniform_cost{});
  const std::vector<brim::bytes> peaks = brim::peak_memory(t, brim::uniform_memory{.activation = 10});
  const brim::error e = error_of([&] { brim::check_memory(t, peaks, {80, 79}); });
  CHECK(says(e, error_code::over_memory, "gpipe: device 1 needs 80 bytes", "limit is 79"));
  CHECK(e.site().device == 1);
}

TEST_CASE("impossible sizes stop at once") {
  for (const brim::pipeline_shape& shape :
       {brim::pipeline_shape{8, 1'000'000'000}, brim::pipeline_shape{2147483647, 8}})
    CHECK(
        says(error_of([&] { static_cast<void>(brim::simulate(brim::schemes::one_f_one_b{}, shape, uniform_cost{})); }),
             error_code::bad_shape, "2^26"));
}
#endif
