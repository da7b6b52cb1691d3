// SPDX-License-Identifier: Apache-2.0
#include "any_shape.hpp"
#include "data.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <brim/model/profile.hpp>
#include <brim/schedule/join_halves.hpp>
#include <brim/schedule/lower_bound.hpp>
#include <brim/schedule/memory.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

// Any scheme on any shape with any uneven costs. The judges here are written naively on purpose: by definition, not by
// the algorithm. A failing run prints the seed and the smallest input; RC_PARAMS="seed=..." repeats it.

namespace {

using brim::action;
using brim::action_kind;
using brim::device_index;
using brim::pipeline_shape;
using brim::stage_index;
using brim::ticks;
using brim::timeline;

/// Costs of one's own for every (stage, device, microbatch), which no shipped model has.
struct uneven_costs {
  std::uint64_t salt = 0;
  ticks largest = 0;

  [[nodiscard]] ticks draw(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) const {
    std::uint64_t x = salt ^ (a * 0x9E3779B97F4A7C15u) ^ (b * 0xC2B2AE3D27D4EB4Fu) ^ (c * 0x165667B19E3779F9u) ^
                      (d * 0xD6E8FEB86659FD93u);
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
    x ^= x >> 29;
    return static_cast<ticks>(x % static_cast<std::uint64_t>(largest + 1));
  }
  [[nodiscard]] ticks duration(const action& a, device_index d) const {
    return draw(static_cast<std::uint64_t>(a.kind), a.stage.at(), a.microbatch.at(), d.at());
  }
  [[nodiscard]] ticks transfer(stage_index s) const { return draw(99, s.at(), 0, 0); }
};

struct request {
  std::string scheme;
  pipeline_shape shape;
};

void show(const request& r, std::ostream& out) { out << r.scheme << ' ' << brim::to_string(r.shape); }
[[maybe_unused]] std::ostream& operator<<(std::ostream& out, const request& r) {
  show(r, out);
  return out;
}

/// A scheme and a shape that it accepts.
request any_request() {
  const std::string scheme = test_support::any_scheme();
  return {scheme, test_support::any_shape(scheme, {.devices = 12, .microbatches = 24, .chunks = 4, .pairs = 3})};
}

uneven_costs any_costs() {
  return {*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::element<ticks>(0, 1, 3, 100, 1'000'000)};
}

timeline made(const request& r, const auto& costs) {
  return test_support::with_scheme(r.scheme, [&](const auto& s) { return brim::simulate(s, r.shape, costs); });
}

using key = std::tuple<action_kind, int, int>;  // kind, stage, microbatch

struct placed {
  device_index device;
  brim::interval time;
};

std::map<key, placed> by_key(const timeline& t) {
  std::map<key, placed> found;
  for (const device_index d : brim::devices(t.program.shape)) {
    const auto row = t.view().row(d);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool first = found
                             .emplace(key{row[i].kind, row[i].stage.value, row[i].microbatch.value},
                                      placed{d, t.view().times_of(d)[i]})
                             .second;
      RC_ASSERT(first);
    }
  }
  return found;
}

/// When the action's input is there, by definition of the dependencies.
ticks input_of(const std::map<key, placed>& all, const timeline& t, const action& a, device_index d,
               const auto& costs) {
  const int s = a.stage.value;
  const int m = a.microbatch.value;
  const auto from = [&](action_kind kind, int stage, int boundary) {
    const placed& p = all.at({kind, stage, m});
    return p.time.end + (p.device == d ? 0 : costs.transfer(stage_index(boundary)));
  };
  if (a.kind == action_kind::forward) return s == 0 ? 0 : from(action_kind::forward, s - 1, s - 1);
  if (a.kind == action_kind::backward_weight) return from(action_kind::backward_input, s, 0);
  if (s + 1 == t.program.where.stages) return from(action_kind::forward, s, 0);
  const bool whole = all.count({action_kind::backward, s + 1, m}) > 0;
  return std::max(from(whole ? action_kind::backward : action_kind::backward_input, s + 1, s),
                  from(action_kind::forward, s, 0));
}

/// Whether steps at this distance, in this order on every device, respect devices and shared weights.
bool repeats_at(const timeline& t, ticks distance) {
  const auto overlaps = [&](ticks first, ticks last) { return first + distance < last; };
  std::vector<std::pair<ticks, ticks>> stages(static_cast<std::size_t>(t.program.where.stages), {-1, 0});
  for (const device_index d : brim::devices(t.program.shape)) {
    const auto row = t.view().row(d);
    const auto times = t.view().times_of(d);
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (std::size_t j = 0; j < row.size(); ++j)  // the next step's i against this step's j, on one device
        if (overlaps(times[i].start, times[j].end)) return false;
      auto& [first, last] = stages[row[i].stage.at()];
      first = first < 0 ? times[i].start : std::min(first, times[i].start);
      last = std::max(last, times[i].end);
    }
  }
  return std::none_of(stages.begin(), stages.end(), [&](const auto& s) { return overlaps(s.first, s.second); });
}

}  // namespace

TEST_CASE("any scheme, shape and costs give a valid as-soon-as-possible timeline") {
  CHECK(rc::check("valid and as soon as possible", [] {
    const request r = any_request();
    const uneven_costs costs = any_costs();
    RC_LOG() << r;
    const timeline t = made(r, costs);
    const std::map<key, placed> all = by_key(t);
    std::size_t forwards = 0, backwards = 0, halves = 0, weights = 0;
    for (const action& a : t.program.actions) {
      forwards += a.kind == action_kind::forward ? 1 : 0;
      backwards += a.kind == action_kind::backward ? 1 : 0;
      halves += a.kind == action_kind::backward_input ? 1 : 0;
      weights += a.kind == action_kind::backward_weight ? 1 : 0;
    }
    RC_ASSERT(forwards ==
              static_cast<std::size_t>(t.program.where.stages) * static_cast<std::size_t>(r.shape.microbatches));
    RC_ASSERT(backwards + halves == forwards);
    RC_ASSERT(weights == halves);
    for (const device_index d : brim::devices(r.shape)) {
      const auto row = t.view().row(d);
      const auto times = t.view().times_of(d);
      ticks free = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        RC_ASSERT(t.program.where.device_of(row[i].route, row[i].stage) == d);
        RC_ASSERT(t.program.where.route_of(row[i].microbatch) == row[i].route);
        RC_ASSERT(times[i].length() == costs.duration(row[i], d));
        // neither earlier than its device and its input allow, nor later
        RC_ASSERT(times[i].start == std::max(free, input_of(all, t, row[i], d, costs)));
        free = times[i].end;
      }
    }
  }));
}

TEST_CASE("lengths are in order, and no bound is above the timeline") {
  CHECK(rc::check("lengths", [] {
    const request r = any_request();
    const brim::stage_costs costs = [&] {
      const uneven_costs draw = any_costs();
      brim::stage_costs drawn;
      const int stages = r.shape.devices * r.shape.chunks;
      for (int s = 0; s < stages; ++s) {
        const auto at = static_cast<std::uint64_t>(s);
        drawn.stages.push_back({.forward = draw.draw(0, at, 0, 0), .backward = draw.draw(1, at, 0, 0)});
        if (s + 1 < stages) drawn.transfers.push_back(draw.draw(2, at, 0, 0));
      }
      return drawn;
    }();
    RC_LOG() << r;
    const timeline t = made(r, costs);
    const ticks most_busy = [&] {
      ticks most = 0;
      for (const device_index d : brim::devices(r.shape)) most = std::max(most, brim::busy_of(t, d));
      return most;
    }();
    RC_ASSERT(brim::makespan_bound(t, costs).length <= brim::makespan(t));
    RC_ASSERT(brim::makespan_bound(t, costs).length >= most_busy);
    RC_ASSERT(brim::makespan(t) >= brim::period(t));
    RC_ASSERT(brim::period(t) >= brim::longest_span(t));
    RC_ASSERT(brim::longest_span(t) >= most_busy);
    for (const brim::length_kind kind :
         {brim::length_kind::makespan, brim::length_kind::longest_span, brim::length_kind::period}) {
      RC_ASSERT(brim::bubble_ratio(t, kind) >= 0.0);
      RC_ASSERT(brim::bubble_ratio(t, kind) <= 1.0);
    }
  }));
}

TEST_CASE("the period is the smallest distance at which the timeline repeats") {
  CHECK(rc::check("period", [] {
    const request r = any_request();
    const uneven_costs costs = any_costs();
    RC_LOG() << r;
    const timeline t = made(r, costs);
    RC_ASSERT(repeats_at(t, brim::period(t)));
    RC_ASSERT(brim::period(t) == 0 || !repeats_at(t, brim::period(t) - 1));
  }));
}

TEST_CASE("peak memory is what a sweep over all moments finds") {
  CHECK(rc::check("memory", [] {
    const request r = any_request();
    const timeline t =
        made(r, brim::uniform_cost{.forward = 3, .backward = 5, .transfer_time = *rc::gen::inRange<ticks>(0, 4)});
    brim::profile memory;
    for (int s = 0; s < t.program.where.stages; ++s) {
      brim::stage_profile& stage = memory.stages.emplace_back();
      stage.memory.weights = *rc::gen::inRange(0, 50);
      stage.memory.activations = *rc::gen::inRange(0, 50);
      stage.memory.released_by_backward_input = *rc::gen::inRange<brim::bytes>(0, stage.memory.activations + 1);
      stage.memory.released_by_backward_weight = stage.memory.activations - stage.memory.released_by_backward_input;
    }
    RC_LOG() << r;
    for (const device_index d : brim::devices(r.shape)) {
      const auto row = t.view().row(d);
      const auto times = t.view().times_of(d);
      brim::bytes resident = 0;
      for (std::size_t i = 0; i < t.program.where.holders.size(); ++i)
        if (t.program.where.holders[i] == d)
          resident += memory.stages[i % static_cast<std::size_t>(t.program.where.stages)].memory.weights;
      brim::bytes peak = resident;
      for (std::size_t moment = 0; moment < row.size(); ++moment) {  // just after the start of each action
        brim::bytes used = resident;
        for (std::size_t i = 0; i < row.size(); ++i) {
          const brim::stage_memory& stage = memory.stages[row[i].stage.at()].memory;
          if (row[i].kind == action_kind::forward && times[i].start <= times[moment].start) used += stage.activations;
          if (times[i].end > times[moment].start) continue;
          if (row[i].kind == action_kind::backward) used -= stage.activations;
          if (row[i].kind == action_kind::backward_input) used -= stage.released_by_backward_input;
          if (row[i].kind == action_kind::backward_weight) used -= stage.released_by_backward_weight;
        }
        peak = std::max(peak, used);
      }
      RC_ASSERT(brim::peak_memory(t, memory)[d.at()] == peak);
    }
  }));
}

TEST_CASE("swapping two actions gives a valid timeline or an error, never a crash") {
  CHECK(rc::check("edited orders", [] {
    const request r = any_request();
    brim::order program =
        test_support::with_scheme(r.scheme, [&](const auto& s) { return brim::make_order(s, r.shape); });
    const auto at = [&] { return *rc::gen::inRange<std::size_t>(0, program.actions.size()); };
    for (int n = *rc::gen::inRange(1, 4); n > 0; --n) std::swap(program.actions[at()], program.actions[at()]);
    if (*rc::gen::inRange(0, 4) == 0) program.actions[at()] = program.actions[at()];
    RC_LOG() << r;
    const brim::uniform_cost costs{};
    try {
      const timeline t = brim::simulate(program, costs);
      const std::map<key, placed> all = by_key(t);
      for (const device_index d : brim::devices(r.shape))
        for (std::size_t i = 0; i < t.view().row(d).size(); ++i)
          RC_ASSERT(t.view().times_of(d)[i].start >= input_of(all, t, t.view().row(d)[i], d, costs));
    } catch (const brim::error& e) {
      RC_ASSERT(e.code() == brim::error_code::deadlock || e.code() == brim::error_code::bad_order);
    }
  }));
}

TEST_CASE("a timeline made in used arrays is the one made afresh") {
  CHECK(rc::check("reuse", [] {
    timeline reused = made(any_request(), any_costs());
    const request r = any_request();
    const uneven_costs costs = any_costs();
    test_support::with_scheme(r.scheme, [&](const auto& s) { brim::simulate_into(reused, s, r.shape, costs); });
    RC_ASSERT(reused == made(r, costs));
  }));
}

TEST_CASE("joining halves that run back to back delays nothing") {
  CHECK(rc::check("joined", [] {
    const request r = any_request();
    brim::stage_costs costs;
    for (int s = 0; s < r.shape.devices * r.shape.chunks; ++s) {
      const ticks input = *rc::gen::inRange<ticks>(0, 9);
      const ticks weight = *rc::gen::inRange<ticks>(0, 9);
      costs.stages.push_back({.forward = *rc::gen::inRange<ticks>(0, 9),
                              .backward = input + weight + *rc::gen::inRange<ticks>(-1, 2),
                              .backward_input = input,
                              .backward_weight = weight});
      costs.stages.back().backward = std::max<ticks>(costs.stages.back().backward, 0);
      if (s > 0) costs.transfers.push_back(*rc::gen::inRange<ticks>(0, 3));
    }
    RC_LOG() << r;
    const timeline apart = made(r, costs);
    const timeline joined = brim::join_halves(apart, costs);
    const std::map<key, placed> before = by_key(apart);
    for (const auto& [what, now] : by_key(joined)) {
      const auto& [kind, stage, microbatch] = what;
      const bool is_whole = kind == action_kind::backward && before.count(what) == 0;
      const placed& then = before.at({is_whole ? action_kind::backward_input : kind, stage, microbatch});
      RC_ASSERT(now.device == then.device);
      RC_ASSERT(now.time.start <= then.time.start);
    }
    RC_ASSERT(brim::makespan(joined) <= brim::makespan(apart));
    RC_ASSERT(brim::peak_memory(joined, brim::uniform_memory{}) == brim::peak_memory(apart, brim::uniform_memory{}));
  }));
}

TEST_CASE("no scheme deadlocks: every p <= 12, v <= 4, m <= 40, every number of pairs") {
  std::map<std::string, int> shapes;
  for (const std::string& name : test_support::scheme_names())
    test_support::with_scheme(name, [&](const auto& scheme) {
      const bool has_pairs = brim::refusal_of(scheme, {.devices = 2, .microbatches = 2, .pairs = 2}).find("pairs") !=
                             std::string_view::npos;
      for (int p = 1; p <= 12; ++p)
        for (int v = 1; v <= 4; ++v)
          for (int q = 1; q <= (has_pairs ? p : 1); ++q)
            for (int m = 1; m <= 40; ++m) {
              const pipeline_shape shape{.devices = p, .microbatches = m, .chunks = v, .pairs = q};
              if (!brim::refusal_of(scheme, shape).empty()) continue;
              ++shapes[name];
              const timeline t = brim::simulate(scheme, shape, brim::uniform_cost{});
              if (brim::busy(t) != 3 * std::int64_t{t.program.where.stages} * m)
                FAIL_CHECK(name << ' ' << brim::to_string(shape));
            }
    });
  for (const char* one_chunk : {"gpipe", "1f1b", "eager-1f1b", "zb-h1", "zb-h2"}) CHECK(shapes[one_chunk] == 12 * 40);
  for (const char* any_chunks : {"interleaved-1f1b", "looped-bfs", "interleaved-zb", "grouped-interleave"})
    CHECK(shapes[any_chunks] == 12 * 4 * 40);
  CHECK(shapes["seq-1f1b"] == 12 * 20);
  CHECK(shapes["chimera"] == 14 * 40);
  for (const char* two_chunks : {"zb-v", "v-half", "v-min"}) CHECK(shapes[two_chunks] == 12 * 40);
  CHECK(shapes["hanayo"] == 12 * 2 * 40);
  for (const char* even_devices : {"bitpipe", "gems"}) CHECK(shapes[even_devices] == 6 * 40);
}
