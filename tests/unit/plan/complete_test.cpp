// SPDX-License-Identifier: Apache-2.0
#include "sample.hpp"

#include <brim/fill/fill.hpp>
#include <brim/fill/kfac_work.hpp>
#include <brim/plan/lower.hpp>
#include <brim/plan/verify.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace brim;

namespace {

kfac_work twin_source(std::int32_t replicas = 1) {
  layer_profile small, large;
  small.name = "small";
  small.statistic_a = small.statistic_b = 12;
  small.refresh_a = small.refresh_b = 40;
  small.precondition = 5;
  large = small;
  large.name = "large";
  large.refresh_a = large.refresh_b = 70;
  stage_profile stage;
  stage.cost = {.forward = 100, .backward = 200, .optimizer_step = 3};
  stage.layers = {small, large};
  profile p;
  p.stages = {stage};
  return {.profile = p, .replicas = replicas, .sync_statistic = 7};
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
    CHECK(refused(without(p, of_kind(action_kind::precondition)), "no precondition uses it in step 0"));
    const std::int32_t last = p.steps - 1;
    CHECK(refused(without(p,
                          [last](const instruction& i, device_index d) {
                            return i.what.kind == action_kind::precondition && i.step == last && d.value == 1;
                          }),
                  "no precondition uses it in step " + std::to_string(last)));
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
