// SPDX-License-Identifier: Apache-2.0
#include "../fill/samples.hpp"
#include "sample.hpp"

#include <brim/fill/fill.hpp>
#include <brim/fill/kfac_work.hpp>
#include <brim/plan/lower.hpp>
#include <brim/plan/verify.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>

using namespace brim;

namespace {

kfac_work twin_source(std::int32_t replicas = 1) {
  kfac_work source = fill_samples::twin_work();
  source.replicas = replicas;
  return source;
}

/// Without events, so that entries can be left out without leaving waits behind.
plan twin_plan(const kfac_work& source = twin_source()) {
  const timeline pipeline = simulate(schemes::chimera{}, {.devices = 4, .microbatches = 4}, source.profile);
  return lower(fill(pipeline, source), {.transport = transport::blocking});
}

plan alone_plan() {
  const kfac_work source = twin_source();
  return lower(fill(simulate(schemes::one_f_one_b{}, {.devices = 2, .microbatches = 4}, source.profile), source),
               {.transport = transport::blocking});
}

/// The plan without the entries for which `left_out` holds, in program and timeline. Metrics of what is left.
template <class LeftOut>
plan without(plan p, const LeftOut& left_out) {
  for (std::size_t s = p.streams.size(); s-- > 0;)
    for (std::size_t at = p.streams[s].end; at-- > p.streams[s].begin;)
      if (left_out(p.instructions[at], p.streams[s].device)) sample::drop(p, at);
  std::erase_if(p.timeline, [&](const timed_action& a) {
    instruction i;
    i.what = a.what;
    i.step = a.step;
    i.piece = a.piece;
    i.pieces = a.pieces;
    return left_out(i, a.device);
  });
  p.metrics.utilization = used_share(p);
  return p;
}
auto of_kind(action_kind kind) {
  return [kind](const instruction& i, device_index) { return i.what.kind == kind; };
}

bool refused(const plan& p, const std::string& sentence) {
  const maybe<fault> found = find_fault(p);
  if (!found) return false;
  const bool said = found->code == error_code::bad_plan && found->sentence.find(sentence) != std::string::npos;
  if (!said) MESSAGE(found->sentence);
  return said;
}

}  // namespace

TEST_CASE("verify: right K-FAC plans are complete") {
  CHECK(!find_fault(twin_plan()));
  CHECK(!find_fault(alone_plan()));
  CHECK(!find_fault(twin_plan(twin_source(2))));
  CHECK(!find_fault(without(alone_plan(), [](const instruction&, device_index) { return false; })));
}

TEST_CASE("verify: statistics of several holders have to be summed") {
  CHECK(refused(without(twin_plan(), of_kind(action_kind::sync_statistic)), "nothing adds up the statistics"));
  CHECK(refused(without(twin_plan(),
                        [](const instruction& i, device_index) {
                          return i.what.kind == action_kind::sync_statistic && i.what.stage.value == 2 &&
                                 i.what.layer.value == 1 && i.what.side == side::b;
                        }),
                "stage 2"));
  CHECK(refused(without(twin_plan(twin_source(2)), of_kind(action_kind::sync_statistic)), ""));
}

TEST_CASE("verify: statistics without a refresh, refreshes without a precondition") {
  for (const plan& p : {twin_plan(), alone_plan()}) {
    CHECK(refused(without(p, of_kind(action_kind::refresh)), "no refresh uses it"));
    CHECK(
        refused(without(p, [](const instruction& i,
                              device_index) { return i.what.kind == action_kind::refresh && i.what.side == side::b; }),
                "no refresh uses it"));
    CHECK(refused(without(p, of_kind(action_kind::precondition)), "and no precondition uses that"));
    const std::int32_t last = p.steps - 1;
    CHECK(refused(without(p,
                          [last](const instruction& i, device_index d) {
                            return i.what.kind == action_kind::precondition && i.step == last && d.value == 1;
                          }),
                  "and no precondition uses that"));
  }
}

TEST_CASE("verify: gradients and results come to every holder") {
  CHECK(refused(without(twin_plan(),
                        [](const instruction& i, device_index) {
                          return i.what.kind == action_kind::sync_gradient && i.what.layer.value < 0;
                        }),
                "nothing adds up the gradient"));
  CHECK(refused(without(twin_plan(),
                        [](const instruction& i, device_index) {
                          return i.what.kind == action_kind::sync_gradient && i.what.layer.value == 1;
                        }),
                "neither preconditions it nor is given the result"));
  CHECK(refused(without(twin_plan(),
                        [](const instruction& i, device_index) {
                          return i.what.layer.value == 1 && i.what.kind != action_kind::sync_gradient;
                        }),
                "is given a result that nobody has made"));
}

TEST_CASE("verify: every holder updates its weights, or the trainer all of them") {
  CHECK(refused(
      without(twin_plan(), [](const instruction& i,
                              device_index d) { return i.what.kind == action_kind::optimizer_step && d.value == 3; }),
      "device 3 does not update its weights"));
  CHECK(!find_fault(without(twin_plan(), of_kind(action_kind::optimizer_step))));
  CHECK(!find_fault(without(alone_plan(), [](const instruction& i, device_index) {
    return i.what.kind == action_kind::optimizer_step || i.what.kind == action_kind::precondition;
  })));
}

TEST_CASE("verify: devices that repeat a refresh may cut it each in its own way") {
  layer_profile layer;
  layer.name = "long";
  layer.statistic_a = layer.statistic_b = 1;
  layer.refresh_a = layer.refresh_b = 60;
  stage_profile stage;
  stage.cost = {.forward = 100, .backward = 200};
  stage.layers = {layer};
  kfac_work source;
  source.profile.stages = {stage};
  source.profile.devices = {{.speed = 1}, {.speed = 1}, {.speed = 1}, {.speed = 0.7}};
  source.sharing = refresh_sharing::repeated;
  const timeline pipeline = simulate(schemes::chimera{}, {.devices = 4, .microbatches = 4}, source.profile);
  const plan p = lower(fill(pipeline, source), {.transport = transport::blocking});
  std::int32_t least = 1 << 30, most = 0;
  for (const instruction& i : p.instructions)
    if (i.what.kind == action_kind::refresh && i.what.stage.value == 0) {
      least = std::min(least, i.pieces);
      most = std::max(most, i.pieces);
    }
  CHECK(least < most);
  CHECK(!find_fault(p));
  CHECK(refused(
      without(p, [](const instruction& i,
                    device_index d) { return i.what.kind == action_kind::refresh && d.value == 3 && i.piece == 1; }),
      "piece"));
}

TEST_CASE("verify: metrics say what the timeline says") {
  const auto with = [](auto change) {
    plan p = alone_plan();
    p.metrics.lower_bound = p.metrics.makespan;
    change(p.metrics);
    return p;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(!find_fault(with([](plan_metrics&) {})));
  CHECK(!find_fault(with([](plan_metrics& m) { m = {}; })));
  CHECK(refused(with([](plan_metrics& m) { ++m.makespan; }), "by the timeline it is"));
  CHECK(refused(with([](plan_metrics& m) { ++m.lower_bound; }), "below its lower bound"));
  CHECK(refused(with([](plan_metrics& m) { --m.spans[1]; }), "the span of device 1"));
  CHECK(refused(with([](plan_metrics& m) { m.period = 1; }), "its period is 1"));
  CHECK(refused(with([](plan_metrics& m) { m.period = m.makespan + 1; }), "its period is"));
  CHECK(refused(with([](plan_metrics& m) { m.bubble_ratio += 1e-3; }), "bubble_ratio"));
  CHECK(refused(with([nan](plan_metrics& m) { m.bubble_ratio = nan; }), "bubble_ratio is no share"));
  CHECK(refused(with([](plan_metrics& m) { m.utilization -= 1e-3; }), "utilization is not that"));
  CHECK(refused(with([](plan_metrics& m) { m.utilization = 1.5; }), "utilization is no share"));
  CHECK(refused(with([nan](plan_metrics& m) { m.refresh_interval[0] = nan; }), "refresh_interval"));
}

TEST_CASE("verify: a collective cannot take for ever") {
  plan p = twin_plan();
  for (timed_action& a : p.timeline)
    if (a.what.kind == action_kind::sync_statistic) a.time.end = longest_schedule;
  CHECK(refused(p, "it takes longer than 2^50 ticks"));
}

TEST_CASE("verify: entries of the tail that take no time part the bubble that they stand in") {
  const auto layer = [](const char* name, ticks a, ticks b, ticks refresh_a, ticks refresh_b, ticks precondition) {
    layer_profile l;
    l.name = name;
    l.statistic_a = a;
    l.statistic_b = b;
    l.refresh_a = refresh_a;
    l.refresh_b = refresh_b;
    l.precondition = precondition;
    return l;
  };
  stage_profile first, second;
  first.cost = {.forward = 6'000, .backward = 12'000};
  first.layers = {layer("x", 9'000, 7'000, 3'000, 16'000, 47'000)};
  second.cost = {.forward = 16'000, .backward = 36'000};
  second.layers = {layer("y", 5'000, 8'000, 27'000, 10'000, 3'000)};
  kfac_work source;
  source.profile.stages = {first, second};
  source.replicas = 2;
  const timeline pipeline = simulate(schemes::one_f_one_b{}, {.devices = 2, .microbatches = 4}, source.profile);
  const filled made = fill(pipeline, source, fills::oldest_longest{}, {.margin_permille = 0, .kept_limits = {}});
  for (const std::int32_t replica : {0, 1}) {
    const auto found = find_fault(lower(made, {.replica = replica}));
    if (found) MESSAGE(found->sentence);
    CHECK(!found);
  }
}

TEST_CASE("verify: the queue of collectives comes last") {
  plan p = lower(sample::two_step_cycle(schemes::chimera{}, {.devices = 2, .microbatches = 4}),
                 {.transport = transport::buffered});
  p.timeline.clear();
  CHECK(!find_fault(p));
  plan moved = p;  // the queue of device 0 behind its compute stream
  moved.instructions.clear();
  moved.waits.clear();
  std::swap(moved.streams[1], moved.streams[3]);
  REQUIRE(moved.streams[1].kind == stream_kind::collective);
  for (stream& s : moved.streams) {
    const auto begin = static_cast<std::uint32_t>(moved.instructions.size());
    for (instruction i : p.instructions_of(s)) {
      const auto waits = p.waits_of(i);
      i.first_wait = static_cast<std::uint32_t>(moved.waits.size());
      moved.waits.insert(moved.waits.end(), waits.begin(), waits.end());
      moved.instructions.push_back(i);
    }
    s.begin = begin;
    s.end = static_cast<std::uint32_t>(moved.instructions.size());
  }
  CHECK(refused(moved, "the queue of collectives has to be the last of its device"));
}

TEST_CASE("verify: times of collectives") {
  const auto with = [](auto change) {
    plan p = twin_plan();
    for (timed_action& a : p.timeline) change(a, p);
    std::stable_sort(p.timeline.begin(), p.timeline.end(), [](const timed_action& a, const timed_action& b) {
      return a.device != b.device ? a.device < b.device
             : a.step != b.step   ? a.step < b.step
                                  : a.time.start < b.time.start;
    });
    return p;
  };
  CHECK(!find_fault(with([](timed_action&, const plan&) {})));
  for (const std::int32_t layer : {0, 1})  // an exchange that ends behind the update
    CHECK(refused(with([layer](timed_action& a, const plan&) {
                    if (a.what.kind == action_kind::sync_gradient && a.what.layer.value == layer) a.time.end += 100'000;
                  }),
                  "takes until"));
  CHECK(refused(with([](timed_action& a, const plan& p) {  // a sum of gradients before the backwards
                  if (a.what.kind == action_kind::sync_gradient && a.what.layer.value < 0)
                    a.time = {a.step * p.step_length, a.step * p.step_length};
                }),
                "takes until"));
  CHECK(refused(with([](timed_action& a, const plan& p) {  // a sum that ends two tables later
                  if (a.what.kind == action_kind::sync_statistic) a.time.end += 2 * p.steps * p.step_length;
                }),
                "takes until"));
}

TEST_CASE("verify: matrices come from somewhere, whole") {
  const auto sample_plan = [] {
    plan p = lower(sample::two_step_cycle(schemes::chimera{}, {.devices = 2, .microbatches = 4}),
                   {.transport = transport::blocking});
    p.metrics = {};
    return p;
  };
  CHECK(!find_fault(sample_plan()));
  const auto strip = [&](auto left_out) {
    plan p = without(sample_plan(), left_out);
    p.metrics = {};
    return p;
  };
  CHECK(refused(strip([](const instruction& i, device_index d) {
                  return i.what.stage.value == 1 && (i.what.kind == action_kind::sync_refresh ||
                                                     (i.what.kind == action_kind::refresh && d.value == 1));
                }),
                "preconditions it, and has no matrix"));
  CHECK(refused(strip([](const instruction& i, device_index d) {
                  return i.what.stage.value == 1 &&
                         (i.what.kind == action_kind::sync_refresh ||
                          (i.what.kind == action_kind::refresh && i.pieces == 2 && i.piece == d.value));
                }),
                "nothing gives the device the rest"));
  for (const action_kind kind : {action_kind::sync_gradient, action_kind::precondition, action_kind::optimizer_step}) {
    plan p = sample_plan();
    for (instruction& i : p.instructions)
      if (i.what.kind == kind) i.pieces = 2;
    CHECK(refused(p, "the end of a step has no pieces"));
  }
  plan halved = sample_plan();
  halved.timeline.clear();
  for (instruction& i : halved.instructions)
    if (i.what.kind == action_kind::sync_refresh) i.pieces = 2;
  CHECK(refused(halved, "a piece of the same item is missing"));
}

TEST_CASE("verify: an update follows the backwards of all routes of its device") {
  plan p;
  p.scheme = "by hand";
  p.shape = {.devices = 1, .microbatches = 2};
  p.where = {.devices = 1, .routes = 2, .stages = 1, .holders = {device_index(0), device_index(0)}};
  p.transport = transport::blocking;
  const auto put = [&](action_kind kind, int microbatch, int route) {
    instruction i;
    i.what = {kind, side::none, route_index(route), stage_index(0), microbatch_index(microbatch), layer_index(-1)};
    p.instructions.push_back(i);
  };
  put(action_kind::forward, 0, 0);
  put(action_kind::backward, 0, 0);
  put(action_kind::optimizer_step, -1, 0);
  put(action_kind::forward, 1, 1);
  put(action_kind::backward, 1, 1);
  p.streams = {{device_index(0), stream_kind::compute, device_index(-1), 0, 5}};
  CHECK(refused(p, "it does not wait for backward stage 0 microbatch 1"));
  std::rotate(p.instructions.begin() + 2, p.instructions.begin() + 3, p.instructions.end());
  CHECK(!find_fault(p));
}

TEST_CASE("verify: numbers that are none") {
  const auto with = [](auto change) {
    plan p = alone_plan();
    change(p);
    return p;
  };
  CHECK(refused(with([](plan& p) { p.metrics.makespan = -5; }), "one of its metrics is negative"));
  CHECK(refused(with([](plan& p) { p.metrics.peak_memory = {-5, -5}; }), "one of its metrics is negative"));
  CHECK(refused(with([](plan& p) { p.metrics.makespan = 0, p.metrics.bubble_ratio = .99; }), "bubble_ratio"));
  CHECK(refused(with([](plan& p) { p.metrics.makespan = 0, p.metrics.lower_bound = 1'000'000; }), "lower bound"));
  CHECK(refused(with([](plan& p) { p.instructions[0].first_wait = 0xfffffff0U; }), "waits"));
  CHECK(refused(with([](plan& p) { std::swap(p.timeline[1].time, p.timeline[2].time); }), ""));
}

TEST_CASE("verify: many pieces and many steps are checked in linear time") {
  plan p;
  p.scheme = "by hand";
  p.shape = {.devices = 1, .microbatches = 1};
  p.where = {.devices = 1, .routes = 1, .stages = 1, .holders = {device_index(0)}};
  p.transport = transport::blocking;
  constexpr int steps = 20'000;
  p.steps = steps;
  const auto put = [&](action_kind kind, side s, int microbatch, int layer, int step, int piece, int pieces) {
    instruction i;
    i.what = {kind, s, route_index(0), stage_index(0), microbatch_index(microbatch), layer_index(layer)};
    i.step = step;
    i.origin_step = is_second_order(kind) && kind != action_kind::precondition ? 0 : step;
    i.piece = piece;
    i.pieces = pieces;
    p.instructions.push_back(i);
  };
  for (int step = 0; step < steps; ++step) {
    put(action_kind::forward, side::none, 0, -1, step, 0, 1);
    put(action_kind::backward, side::none, 0, -1, step, 0, 1);
    if (step == 0) put(action_kind::statistic, side::a, 0, 0, 0, 0, 1);
    put(action_kind::refresh, side::a, -1, 0, step, step, steps);
    put(action_kind::precondition, side::none, -1, 0, step, 0, 1);
  }
  p.streams = {
      {device_index(0), stream_kind::compute, device_index(-1), 0, static_cast<std::uint32_t>(p.instructions.size())}};
  CHECK(!find_fault(p));  // once a minute of work, now a blink
}
