// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <brim/model/profile.hpp>
#include <brim/schedule/lower_bound.hpp>
#include <brim/schedule/memory.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace {

using brim::device_index;
using brim::interval;
using brim::ticks;
using brim::uniform_cost;

std::vector<interval> row(const brim::timeline& t, int device) {
  const auto times = t.view().times_of(device_index(device));
  return {times.begin(), times.end()};
}

/// Split backwards on two devices, to see what the simulator makes of halves.
struct halves {
  static constexpr std::string_view name = "halves";
  constexpr void order(const brim::pipeline_shape& shape, device_index d, auto& out) const {
    for (const brim::microbatch_index m : brim::microbatches(shape)) out.forward(brim::stage_of(d), m);
    for (const brim::microbatch_index m : brim::microbatches(shape)) out.backward_input(brim::stage_of(d), m);
    for (const brim::microbatch_index m : brim::microbatches(shape)) out.backward_weight(brim::stage_of(d), m);
  }
};

/// Two routes over two devices, whose microbatches follow each other.
struct one_after_the_other {
  static constexpr std::string_view name = "one after the other";
  [[nodiscard]] constexpr brim::placement placement(const brim::pipeline_shape& shape) const {
    return brim::mirrored_pairs(shape);
  }
  constexpr void order(const brim::pipeline_shape&, device_index d, auto& out) const {
    for (int m = 0; m < 2; ++m) {
      const brim::stage_index s(m == d.value ? 0 : 1);
      const brim::microbatch_index at(m);
      const brim::route_index route(m);
      out.forward(s, at, route);
      out.backward(s, at, route);
    }
  }
};

}  // namespace

TEST_CASE("1F1B on two devices, with a transfer time") {
  const brim::timeline t = brim::simulate(brim::schemes::one_f_one_b{}, {2, 2},
                                          uniform_cost{.forward = 2, .backward = 3, .transfer_time = 1});
  CHECK(row(t, 0) == std::vector<interval>{{0, 2}, {2, 4}, {9, 12}, {14, 17}});
  CHECK(row(t, 1) == std::vector<interval>{{3, 5}, {5, 8}, {8, 10}, {10, 13}});
  CHECK(t.transfers == std::vector<ticks>{1});
  CHECK(brim::makespan(t) == 17);
  CHECK(brim::span_of(t, device_index(1)) == 10);
  CHECK(brim::longest_span(t) == 17);
  CHECK(brim::busy_of(t, device_index(0)) == 10);
  CHECK(brim::busy(t) == 20);
  CHECK(brim::bubble_ratio(t) == doctest::Approx(1.0 - 20.0 / 34.0));
}

TEST_CASE("no transfer between stages of one device") {
  const brim::timeline t = brim::simulate(brim::schemes::looped_bfs{}, {1, 1, 3},
                                          uniform_cost{.forward = 2, .backward = 3, .transfer_time = 100});
  CHECK(brim::makespan(t) == 15);
}

TEST_CASE("the halves of a backward: the neighbour waits for the input half only") {
  const brim::timeline t =
      brim::simulate(halves{}, {2, 1}, uniform_cost{.forward = 2, .backward_input = 3, .backward_weight = 4});
  CHECK(row(t, 1) == std::vector<interval>{{2, 4}, {4, 7}, {7, 11}});
  CHECK(row(t, 0) == std::vector<interval>{{0, 2}, {7, 10}, {10, 14}});
  CHECK(brim::peak_memory(t, brim::uniform_memory{.activation = 5, .released_by_backward_input = 2}) ==
        std::vector<brim::bytes>{5, 5});
}

TEST_CASE("zero durations are fine") {
  const brim::timeline t = brim::simulate(brim::schemes::chimera{}, {4, 8}, uniform_cost{.forward = 0, .backward = 0});
  CHECK(brim::makespan(t) == 0);
  CHECK(brim::period(t) == 0);
  CHECK(brim::bubble_ratio(t) == 0.0);
  CHECK(brim::makespan_bound(t, uniform_cost{.forward = 0, .backward = 0}).length == 0);
}

TEST_CASE("an empty timeline has no length") {
  const brim::timeline t{};
  CHECK(brim::makespan(t) == 0);
  CHECK(brim::busy(t) == 0);
}

TEST_CASE("the period is shorter than the makespan where a late device also ends late") {
  const brim::stage_costs costs{.stages = {{.forward = 2, .backward_input = 3, .backward_weight = 4},
                                           {.forward = 2, .backward_input = 3, .backward_weight = 20}},
                                .transfers = {}};
  const brim::timeline t = brim::simulate(halves{}, {2, 1}, costs);
  CHECK(row(t, 0) == std::vector<interval>{{0, 2}, {7, 10}, {10, 14}});
  CHECK(row(t, 1) == std::vector<interval>{{2, 4}, {4, 7}, {7, 27}});
  CHECK(brim::makespan(t) == 27);
  CHECK(brim::longest_span(t) == 25);
  CHECK(brim::period(t) == 25);
}

TEST_CASE("routes share their stages: no step starts before all holders have finished with a stage") {
  const brim::timeline t = brim::simulate(one_after_the_other{}, {2, 2}, uniform_cost{.forward = 2, .backward = 3});
  CHECK(row(t, 0) == std::vector<interval>{{0, 2}, {7, 10}, {10, 12}, {12, 15}});
  CHECK(row(t, 1) == std::vector<interval>{{2, 4}, {4, 7}, {7, 9}, {15, 18}});
  CHECK(brim::longest_span(t) == 16);
  CHECK(brim::period(t) == 18);  // stage 0 is in use from 0 on device 0 to 18 on device 1
}

TEST_CASE("every length has a name and a ratio") {
  const brim::timeline t = brim::simulate(brim::schemes::chimera{}, {4, 8}, uniform_cost{.transfer_time = 1});
  CHECK(brim::name_of(brim::length_kind::makespan) == "makespan");
  CHECK(brim::name_of(brim::length_kind::longest_span) == "longest_span");
  CHECK(brim::name_of(brim::length_kind::period) == "period");
  CHECK(brim::length_of(t, brim::length_kind::makespan) == brim::makespan(t));
  CHECK(brim::length_of(t, brim::length_kind::longest_span) == brim::longest_span(t));
  CHECK(brim::length_of(t, brim::length_kind::period) == brim::period(t));
}

TEST_CASE("the bound names its reason") {
  const brim::timeline path = brim::simulate(brim::schemes::gpipe{}, {4, 1}, uniform_cost{});
  CHECK(brim::makespan_bound(path, uniform_cost{}) ==
        brim::lower_bound{12, brim::lower_bound::reason::path, device_index(-1)});
  const brim::stage_costs slow{.stages = {{}, {.forward = 5, .backward = 6}, {}}, .transfers = {}};
  const brim::timeline load = brim::simulate(brim::schemes::one_f_one_b{}, {3, 10}, slow);
  CHECK(brim::makespan_bound(load, slow) ==
        brim::lower_bound{1 + 110 + 2, brim::lower_bound::reason::load, device_index(1)});
  CHECK(brim::name_of(brim::lower_bound::reason::path) == "path");
  CHECK(brim::name_of(brim::lower_bound::reason::load) == "load");
}

TEST_CASE("a profile with device speeds is simulated as its table of costs") {
  brim::profile p;
  p.stages.resize(2);
  p.stages[0].cost = {.forward = 10, .backward = 20};
  p.stages[1].cost = {.forward = 30, .backward = 40};
  p.devices = {{.speed = 1.0}, {.speed = 2.0}};
  p.links = {.latency = 1, .p2p = {4}};
  const brim::timeline t = brim::simulate(brim::schemes::gpipe{}, {2, 1}, p);
  CHECK(brim::makespan(t) == 10 + 5 + 15 + 20 + 5 + 20);
  CHECK(brim::makespan_bound(t, p).length == brim::makespan(t));
}

TEST_CASE("a timeline made in used arrays is the same timeline, and takes no new ones") {
  const uniform_cost costs{.forward = 3, .backward = 4, .transfer_time = 1};
  brim::timeline reused = brim::simulate(brim::schemes::gpipe{}, {4, 16}, uniform_cost{});
  const auto* times = reused.times.data();
  brim::simulate_into(reused, brim::schemes::chimera{}, {4, 8}, costs);
  CHECK(reused == brim::simulate(brim::schemes::chimera{}, {4, 8}, costs));
  CHECK(reused.times.data() == times);
  brim::simulate_into(reused, uniform_cost{});
  CHECK(reused == brim::simulate(brim::schemes::chimera{}, {4, 8}, uniform_cost{}));
}

TEST_CASE("memory: resident stages of all routes, and the peak") {
  const brim::timeline t = brim::simulate(brim::schemes::chimera{}, {4, 4}, uniform_cost{});
  const brim::uniform_memory memory{.activation = 3, .weights = 1000};
  CHECK(brim::resident_memory(t, memory) == std::vector<brim::bytes>(4, 2000));
  CHECK(brim::peak_memory(t, memory) == std::vector<brim::bytes>{2009, 2012, 2012, 2009});
  brim::check_memory(t, {5, 7}, {0, 7});  // 0: no limit
  const brim::timeline many = brim::simulate(brim::schemes::gpipe{}, {1, 10'000}, uniform_cost{});
  CHECK(brim::peak_memory(many, brim::uniform_memory{.activation = brim::largest_memory}).front() == brim::bytes{1}
                                                                                                         << 62);
}

/// The weight half after everything that somebody waits for.
struct late_weights {
  static constexpr std::string_view name = "late weights";
  constexpr void order(const brim::pipeline_shape& shape, device_index d, auto& out) const {
    const auto each = [&](auto use) {
      for (const brim::microbatch_index m : brim::microbatches(shape)) use(brim::stage_of(d), m);
    };
    if (d.value + 1 < shape.devices) {
      each([&](auto s, auto m) { out.forward(s, m); });
      each([&](auto s, auto m) { out.backward_input(s, m), out.backward_weight(s, m); });
    } else {
      each([&](auto s, auto m) { out.forward(s, m), out.backward_input(s, m); });
      each([&](auto s, auto m) { out.backward_weight(s, m); });
    }
  }
};

TEST_CASE("bound: backwards in halves may end with a weight half") {
  const uniform_cost costs{.forward = 1, .backward = 2};
  const brim::timeline t = brim::simulate(late_weights{}, {2, 2}, costs);
  CHECK(brim::makespan(t) == 7);
  CHECK(brim::makespan_bound(t, costs) ==
        brim::lower_bound{7, brim::lower_bound::reason::load, device_index(1)});     // reached
  CHECK(brim::makespan_bound(t.program.where, t.program.shape, costs).length == 9);  // of whole backwards
  for (const int devices : {1, 2, 3, 5})
    for (const int microbatches : {1, 2, 7}) {
      const brim::timeline made = brim::simulate(late_weights{}, {devices, microbatches}, costs);
      CHECK(brim::makespan_bound(made, costs).length <= brim::makespan(made));
    }
}

TEST_CASE("the laws of ZB-H1 and ZB-H2 with equal stages and free transfers") {
  int beyond = 0;  // cases in which a law is above zero
  for (int p = 2; p <= 6; ++p)
    for (const auto& [f, i, w] :
         std::vector<std::array<brim::ticks, 3>>{{1, 1, 1}, {5, 6, 4}, {3, 7, 2}, {2, 3, 9}, {7, 2, 1}, {4, 4, 5}}) {
      const brim::uniform_cost costs{.forward = f, .backward = i + w, .backward_input = i, .backward_weight = w};
      const brim::pipeline_shape shape{.devices = p, .microbatches = 2 * p + 1};
      const brim::ticks work = (2 * p + 1) * (f + i + w);
      const brim::timeline h1 = brim::simulate(brim::schemes::zero_bubble_h1{}, shape, costs);
      CHECK(brim::makespan(h1) == work + (p - 1) * (i + std::max<brim::ticks>(f - w, 0)));
      CHECK(brim::longest_span(h1) == brim::makespan(h1));
      const brim::timeline h2 = brim::simulate(brim::schemes::zero_bubble_h2{}, shape, costs);
      const brim::ticks law = (p - 1) * std::max({brim::ticks{0}, f + i - 2 * w, i - f});
      CHECK(brim::longest_span(h2) == work + law);
      beyond += law > 0 ? 1 : 0;
    }
  CHECK(beyond >= 10);
}
