// SPDX-License-Identifier: Apache-2.0
#include "archetypes.hpp"
#include "fill_judge.hpp"
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/fill/stream.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace fill_samples;
using brim::action_kind;
using brim::interval;
using brim::placed_work;

std::vector<std::string> nothing() { return {}; }

/// One device that is idle from 0 to 1000, then busy until 1100.
brim::timeline one_bubble() {
  brim::profile p = profile_of({});
  p.stages = {p.stages.front(), p.stages.front()};
  p.stages[0].cost = {.forward = 1'000, .backward = 100};
  p.stages[1].cost = {.forward = 50, .backward = 50};
  return brim::simulate(brim::schemes::gpipe{}, {.devices = 2, .microbatches = 1}, p);
}

}  // namespace

TEST_CASE("a small table, worked out by hand") {
  // Two devices, one microbatch: device 0 runs 0-100 and 400-600, device 1 runs 100-200 and 200-400.
  const brim::profile p = profile_of({layer("only", 30, 50, 10)});
  const brim::kfac_work work{p};
  const brim::timeline pipeline = brim::simulate(brim::schemes::gpipe{}, {.devices = 2, .microbatches = 1}, p);
  const brim::filled filled = brim::fill(pipeline, work);
  CHECK(test_support::complaints_about(filled, pipeline, work) == nothing());
  CHECK(filled.step_length == 610);
  CHECK(filled.cycle_length == 1);
  REQUIRE(filled.work.size() == 8);
  // Device 0: input side at 100; output side and both inversions only after the backward that ends the step, so a step later.
  const auto is = [&](std::size_t at, action_kind kind, brim::side which, std::int32_t origin, interval time) {
    const placed_work& w = filled.work[at];
    return w.what.kind == kind && w.what.side == which && w.step == 0 && w.origin_step == origin && w.time == time;
  };
  // What waits for work of the previous step fills the middle bubble first: it is older.
  CHECK(is(0, action_kind::statistic, brim::side::b, -1, {100, 130}));
  CHECK(is(1, action_kind::refresh, brim::side::a, -1, {130, 180}));
  CHECK(is(2, action_kind::refresh, brim::side::b, -1, {180, 230}));
  CHECK(is(3, action_kind::statistic, brim::side::a, 0, {230, 260}));
  // Device 1 does all of it between its backward and the end of the pipeline.
  CHECK(is(4, action_kind::statistic, brim::side::a, 0, {400, 430}));
  CHECK(is(5, action_kind::statistic, brim::side::b, 0, {430, 460}));
  CHECK(is(6, action_kind::refresh, brim::side::a, 0, {460, 510}));
  CHECK(is(7, action_kind::refresh, brim::side::b, 0, {510, 560}));
  CHECK(filled.report.devices[0].greatest_age == 1);
  CHECK(filled.report.devices[1].greatest_age == 0);
  CHECK(filled.report.devices[0].kept == 20);  // errors of the backward that ends the step
  CHECK(filled.report.devices[1].kept == 30);
  CHECK(filled.report.devices[0].utilization == doctest::Approx((300 + 10 + 160) / 610.0));
  CHECK(filled.report.utilization_before == doctest::Approx(0.5));
  CHECK(filled.report.overhead == doctest::Approx(610.0 / 600 - 1));
  CHECK(filled.report.policy == "oldest-longest");
  REQUIRE(filled.tail.size() == 4);
  CHECK(filled.tail[0].time == interval{600, 610});
  CHECK(filled.tail[1].what.kind == action_kind::optimizer_step);  // unmeasured, and still where it has to be
  CHECK(filled.tail[1].time == interval{610, 610});
}

TEST_CASE("the same input gives the same table") {
  CHECK(brim::fill(twin_pipeline(), twin_work()) == brim::fill(twin_pipeline(), twin_work()));
}

TEST_CASE("twins divide refreshes: one owner each; or repeat them: each holder") {
  brim::kfac_work work = twin_work();
  const auto refreshes = [](const brim::filled& filled) {
    const auto count = std::count_if(filled.work.begin(), filled.work.end(), [](const placed_work& w) {
      return w.what.kind == action_kind::refresh && w.piece == 0;
    });
    return static_cast<double>(count) / filled.cycle_length;
  };
  const brim::filled divided = brim::fill(twin_pipeline(), work);
  work.sharing = brim::refresh_sharing::repeated;
  const brim::filled repeated = brim::fill(twin_pipeline(), work);
  CHECK(test_support::complaints_about(divided, twin_pipeline(), twin_work()) == nothing());
  CHECK(test_support::complaints_about(repeated, twin_pipeline(), work) == nothing());
  CHECK(repeated.report.load > divided.report.load);
  CHECK(refreshes(repeated) > 0);
  CHECK(refreshes(divided) > 0);
  // The judge knows the difference.
  CHECK(test_support::complaints_about(divided, twin_pipeline(), work) != nothing());
  CHECK(test_support::complaints_about(repeated, twin_pipeline(), twin_work()) != nothing());
}

TEST_CASE("replicas are filled like twins") {
  brim::kfac_work work{profile_of({layer("one", 12, 40, 5), layer("two", 12, 40, 5)})};
  const brim::timeline pipeline =
      brim::simulate(brim::schemes::one_f_one_b{}, {.devices = 3, .microbatches = 4}, work.profile);
  for (const std::int32_t replicas : {1, 2, 3}) {
    CAPTURE(replicas);
    work.replicas = replicas;
    const brim::filled filled = brim::fill(pipeline, work);
    CHECK(filled.replicas == replicas);
    CHECK(filled.report.devices.size() == static_cast<std::size_t>(3 * replicas));
    CHECK(test_support::complaints_about(filled, pipeline, work) == nothing());
  }
}

TEST_CASE("without pi-damping an inversion waits for its own side only") {
  brim::kfac_work work{profile_of({layer("only", 30, 50)})};
  work.damping = brim::damping_split::independent;
  const brim::timeline pipeline =
      brim::simulate(brim::schemes::gpipe{}, {.devices = 2, .microbatches = 1}, work.profile);
  const brim::filled filled = brim::fill(pipeline, work);
  CHECK(test_support::complaints_about(filled, pipeline, work) == nothing());
  const auto a = std::find_if(filled.work.begin(), filled.work.end(), [](const placed_work& w) {
    return w.what.kind == action_kind::refresh && w.what.side == brim::side::a;
  });
  REQUIRE(a != filled.work.end());
  CHECK(a->origin_step == 0);  // in the middle bubble of its own step, before the backward
}

TEST_CASE("a refresh that fits no bubble is cut into panels, and a statistic into rows") {
  brim::kfac_work work{profile_of({layer("long", 300, 900)})};
  const brim::timeline pipeline =
      brim::simulate(brim::schemes::gpipe{}, {.devices = 2, .microbatches = 1}, work.profile);
  const brim::filled filled = brim::fill(pipeline, work);
  CHECK(test_support::complaints_about(filled, pipeline, work) == nothing());
  for (const placed_work& w : filled.work) {
    if (w.what.kind == action_kind::refresh) CHECK(w.pieces > 1);
    if (w.what.kind == action_kind::statistic) CHECK(w.pieces >= 2);
  }
}

TEST_CASE("policies differ where they should") {
  // Pieces for a bubble of 1000: A of 400, made first; B of 300, which most work follows; C of 600, the longest.
  brim::work_set set;
  add_user_unit(set, 1, 400, 0);
  add_user_unit(set, 1, 300, 0, 5'000);
  add_user_unit(set, 1, 600, 0);
  const auto order_of = [&](const auto& policy) {
    std::string out;
    for (const placed_work& w :
         brim::fill(one_bubble(), fixed_source{set}, policy,
                    {.margin_permille = 0, .longest_cycle = 4, .tolerance = 1, .kept_limits = {}})
             .work)
      if (w.step == 0 && w.origin_step == 0) out += static_cast<char>('A' + w.what.layer.value);
    return out;
  };
  CHECK(order_of(brim::fills::oldest_longest{brim::refresh_discipline::one_shot}) == "CA");
  CHECK(order_of(brim::fills::earliest_deadline{brim::refresh_discipline::one_shot}) == "BA");
  CHECK(order_of(brim::fills::first_fit{brim::refresh_discipline::one_shot}) == "AB");
}

TEST_CASE("archetypes: the fill asks for no more than its concepts say") {
  const brim::timeline pipeline = one_bubble();
  const test_support::work_source_archetype source(0);
  const brim::filled ranked = brim::fill(pipeline, source, test_support::ranked_policy_archetype(0));
  const brim::filled chosen = brim::fill(pipeline, source, test_support::choosing_policy_archetype(0));
  CHECK(ranked.work == chosen.work);
  REQUIRE(ranked.work.size() == 1);
  CHECK(ranked.work[0].time.start >= 10);
}

TEST_CASE("best fit prefers the longest piece, the default the oldest") {
  // One unit of 700 that waits from the first step for a place behind the other, and both again in the next step.
  brim::work_set set;
  add_user_unit(set, 1, 700, 0);
  add_user_unit(set, 1, 500, 0);
  const auto first_of_second_step = [&](const auto& policy) {
    const brim::filled filled =
        brim::fill(one_bubble(), fixed_source{set}, policy, {.margin_permille = 0, .tolerance = 1, .kept_limits = {}});
    return filled.report.greatest_age;
  };
  CHECK(first_of_second_step(brim::fills::oldest_longest{}) <= first_of_second_step(brim::fills::best_fit{}));
}

TEST_CASE("a stream gives step after step by the same rule") {
  const brim::kfac_work work = twin_work();
  const brim::timeline pipeline = twin_pipeline();
  brim::fill_stream stream(pipeline, work);
  brim::filled steps = brim::fill(pipeline, work);
  CHECK(stream.step_length() == steps.step_length);
  CHECK(stream.report().utilization >= steps.report.utilization - 0.05);
  CHECK(stream.report().utilization <= stream.report().bound + 1e-9);
  steps.work.clear();
  steps.cycle_length = 60;
  for (int s = 0; s < steps.cycle_length; ++s) {
    const std::vector<placed_work>& next = stream.next();
    steps.work.insert(steps.work.end(), next.begin(), next.end());
  }
  std::stable_sort(steps.work.begin(), steps.work.end(), [](const placed_work& a, const placed_work& b) {
    return std::tuple(a.replica, a.device, a.step, a.time.start) <
           std::tuple(b.replica, b.device, b.step, b.time.start);
  });
  CHECK(test_support::fill_judge(steps, pipeline, work, 50).judge_steps(0, 30) == nothing());
  CHECK(test_support::fill_judge(steps, pipeline, work, 50).judge_steps(0, 60) !=
        nothing());  // the last ones are not complete
}
