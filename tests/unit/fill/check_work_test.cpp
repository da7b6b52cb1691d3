// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/fill/stream.hpp>

#include <errors.hpp>

#include <string_view>
#include <vector>

#if BRIM_HAS_EXCEPTIONS

namespace {

using namespace fill_samples;
using brim::action_kind;
using brim::error_code;
using brim::work_batch;
using brim::work_set;
using test_support::error_of;
using test_support::says;

work_set right() { return twin_work().work(twin_pipeline(), {}); }

/// Whether the fill of a changed work set says so.
template <class Change>
bool refused(Change change, std::string_view words) {
  fixed_source source{right()};
  change(source.set);
  const brim::error e = error_of([&] { static_cast<void>(brim::fill(twin_pipeline(), source)); });
  const bool said = says(e, error_code::no_fill, words);
  if (!said) MESSAGE(std::string(e.what()));
  return said;
}

/// The same for a change of the first batch with releases, or of the first that waits.
template <class Change>
bool batch_refused(bool waits, Change change, std::string_view words) {
  return refused(
      [&](work_set& set) {
        for (work_batch& b : set.batches)
          if ((b.waits >= 0) == waits) return change(b);
      },
      words);
}

}  // namespace

TEST_CASE("work set: the right one is filled") {
  CHECK(brim::fill(twin_pipeline(), fixed_source{right()}).cycle_length > 0);
}

TEST_CASE("work set: replicas and units") {
  CHECK(refused([](work_set& s) { s.replicas = 0; }, "work_set: replicas is 0; expected 1 … 4096"));
  CHECK(refused([](work_set& s) { s.replicas = 5000; }, "replicas is 5000"));
  CHECK(refused([](work_set& s) { s.units[1].first_batch = 0; }, "unit 1: first_batch is 0"));
  CHECK(refused([](work_set& s) { s.units[0].batch_count = 0; }, "unit 0: batch_count is 0"));
  CHECK(refused([](work_set& s) { s.units.back().batch_count = 1000; }, "batch_count is 1000"));
  CHECK(refused([](work_set& s) { s.units.pop_back(); }, "behind those of the last unit"));
  CHECK(refused([](work_set& s) { s.units[0].gates = -1; }, "it has -1 gates"));
}

TEST_CASE("work set: where and what a batch is") {
  CHECK(batch_refused(
      false, [](work_batch& b) { b.unit = 1; }, "batch 0: unit is 1; expected 0"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.lane = 4; }, "there is no lane 4; expected 0 … 3"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.lane = -1; }, "there is no lane -1"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.lane = 1; }, "device 1 does not hold stage 0 of route 0"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.what.stage = brim::stage_index(9); }, "there is no stage 9"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.what.route = brim::route_index(2); }, "there is no route 2"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.what.kind = action_kind::forward; }, "no work for a bubble"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.what.kind = static_cast<action_kind>(99); }, "kind 99"));
}

TEST_CASE("work set: what verify would refuse later") {
  CHECK(batch_refused(
      false, [](work_batch& b) { b.what.kind = action_kind::sync_statistic; }, "no work for a bubble"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.what.stage = brim::stage_index(-1); }, "there is no stage -1"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.what.layer = brim::layer_index(-2); }, "there is no layer -2"));
  CHECK(refused([](work_set& s) { s.releases[1].microbatch = brim::microbatch_index(4); }, "no microbatch 4"));
  CHECK(refused([](work_set& s) { s.releases[1].microbatch = brim::microbatch_index(1); }, "takes another route"));
}

TEST_CASE("work set: sizes") {
  CHECK(batch_refused(
      true, [](work_batch& b) { b.duration = 0; }, "duration is 0 ticks"));
  CHECK(batch_refused(
      true, [](work_batch& b) { b.duration = -5; }, "duration is -5 ticks"));
  CHECK(batch_refused(
      true, [](work_batch& b) { b.duration = brim::longest_schedule; }, "more than 2^61 ticks"));
  CHECK(batch_refused(
      true, [](work_batch& b) { b.pieces = 0; }, "it has 0 pieces"));
  CHECK(batch_refused(
      true, [](work_batch& b) { b.pieces = 1 << 27; }, "more than 2^26 pieces"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.division = 0; }, "in divisions of 0"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.division = 3; }, "in divisions of 3"));
  CHECK(batch_refused(
      true, [](work_batch& b) { b.following = -1; }, "following is -1"));
  CHECK(batch_refused(
      true, [](work_batch& b) { b.delay = -1; }, "delay is -1"));
  CHECK(batch_refused(
      true, [](work_batch& b) { b.kept = -1; }, "kept is -1"));
  CHECK(refused(
      [](work_set& s) {
        for (int k = 0; k < 10; ++k) {
          add_user_unit(s, 0, 5, 10);
          s.batches.back().kept = brim::largest_memory;
          s.batches.back().pieces = 1000;
          s.batches.back().release_count = 1000;
          s.releases.resize(s.releases.size() + 999, s.releases.back());
        }
      },
      "exceeds 2^60 bytes"));
}

TEST_CASE("work set: releases and gates") {
  CHECK(batch_refused(
      true, [](work_batch& b) { b.waits = 7; }, "it waits for gate 7 of 1"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.signals = 7; }, "it signals gate 7 of 1"));
  CHECK(batch_refused(
      true, [](work_batch& b) { b.waits = -1; }, "either releases or a gate"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.waits = 0; }, "either releases or a gate"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.first_release = 0xfffffff0U; }, "it names releases"));
  CHECK(batch_refused(
      false, [](work_batch& b) { b.release_count = 1; }, "it has 1 releases"));
  CHECK(refused([](work_set& s) { s.releases[1].at = -1; }, "release 1 is at -1; expected at least"));
  CHECK(refused([](work_set& s) { s.releases[1].at = s.releases[0].at - 1; }, "release 1 is at"));
  CHECK(refused([](work_set& s) { s.releases[1].at = 1'000'000; }, "the step ends at"));
  CHECK(refused([](work_set& s) { s.releases[1].kept_from = -1; }, "kept from -1"));
  CHECK(refused(
      [](work_set& s) {
        s.units[0].gates = 2;
        for (work_batch& b : s.batches)
          if (b.unit == 0 && b.waits == 0) b.waits = 1;
      },
      "unit 0: nothing signals gate 1"));
  CHECK(refused(
      [](work_set& s) {
        s.units[0].gates = 2;
        for (work_batch& b : s.batches)
          if (b.unit == 0 && b.waits == 0) b.waits = b.signals = 1;
      },
      "unit 0: its gates wait for each other"));
}

TEST_CASE("work set: the path at the end of a step") {
  CHECK(refused([](work_set& s) { s.tail[0].duration = -1; }, "tail entry 0: duration is -1"));
  CHECK(refused([](work_set& s) { s.tail[0].lane = 77; }, "tail entry 0: there is no lane 77"));
  CHECK(refused([](work_set& s) { std::swap(s.tail.front(), s.tail.back()); }, "behind one of lane 3"));
  CHECK(refused([](work_set& s) { s.tail[0].duration = s.tail[1].duration = brim::longest_schedule; }, "tail entry 1"));
  CHECK(refused([](work_set& s) { s.tail[1].duration = brim::longest_filled_step; }, "fill: a step takes 175921860"));
  CHECK(refused([](work_set& s) { s.tail[0].what.kind = action_kind::send_gradient; }, "no optional work"));
}

TEST_CASE("work set: replicas and tail may not depend on the limits") {
  struct fickle {
    [[nodiscard]] work_set work(const brim::timeline_view&, const brim::cut_limits& limits) const {
      work_set set = right();
      if (!limits.panel.empty()) set.tail.pop_back();
      return set;
    }
  };
  CHECK(says(error_of([] { static_cast<void>(brim::fill(twin_pipeline(), fickle{})); }), error_code::no_fill,
             "replicas and tail depend on the limits"));
}

TEST_CASE("times at the end of their range are refused, not added up wrongly") {
  const auto error_with = [](auto change) {
    brim::kfac_work work = twin_work();
    change(work);
    const brim::timeline pipeline =
        brim::simulate(brim::schemes::chimera{}, {.devices = 4, .microbatches = 4}, work.profile);
    return error_of([&] { static_cast<void>(brim::fill(pipeline, work)); });
  };
  constexpr brim::ticks most = brim::longest_duration;
  CHECK(says(error_with([](auto& w) { w.profile.stages[0].cost.forward = most; }), error_code::no_fill, "a step takes",
             "expected at most 2^44"));
  CHECK(says(error_with([](auto& w) {
               for (auto& l : w.profile.stages[0].layers) l.precondition = most;
               w.profile.devices = {{.speed = 1e-6}};
             }),
             error_code::no_fill, "2^61"));
  CHECK(says(error_with([](auto& w) {
               for (auto& l : w.profile.stages[0].layers) l.refresh_a = l.refresh_b = most;
               w.profile.devices = {{.speed = 1e-6}};
             }),
             error_code::no_fill, "more than 2^61 ticks"));
  CHECK(error_with([](auto& w) {
          for (auto& l : w.profile.stages[0].layers) l.statistic_a = l.statistic_b = most;
        }).code() == error_code::item_too_long);
}

TEST_CASE("margins at the end of their range") {
  static_assert(brim::detail::room_for(brim::longest_filled_step, 10'000) == 11 * brim::longest_filled_step);
  static_assert(brim::detail::room_for(brim::longest_schedule, 10'000) == brim::longest_schedule);
  for (const brim::ticks bubble :
       {brim::ticks{0}, brim::ticks{1}, brim::ticks{999}, brim::ticks{123'456'789}, brim::longest_filled_step})
    for (const brim::ticks margin : {0, 1, 50, 333, 1000, 10'000}) {
      const brim::ticks fit = brim::detail::longest_fit(bubble, margin);
      CHECK(brim::detail::room_for(fit, margin) <= bubble);
      CHECK(brim::detail::room_for(fit + 1, margin) > bubble);
    }
}

TEST_CASE("stream: its options, its memory and its end are bounded") {
  const brim::timeline pipeline = twin_pipeline();
  const auto refused_stream = [&](const brim::kfac_work& work, const brim::stream_options& options, error_code code,
                                  std::string_view words) {
    const brim::error e =
        error_of([&] { brim::fill_stream stream(pipeline, work, brim::fills::oldest_longest{}, options); });
    const bool said = says(e, code, words);
    if (!said) MESSAGE(std::string(e.what()));
    return said;
  };
  const brim::kfac_work good = twin_work();
  CHECK(refused_stream(good, {.fill = {}, .threshold_permille = -1}, error_code::no_fill, "threshold_permille is -1"));
  CHECK(refused_stream(good, {.fill = {}, .warm_up_steps = 5000}, error_code::no_fill, "warm_up_steps is 5000"));
  CHECK(refused_stream(good, {.fill = {}, .measured_steps = 0}, error_code::no_fill, "measured_steps is 0"));
  CHECK(refused_stream(good, {.fill = {.kept_limits = {1, 1, 1, 1}}}, error_code::over_memory, "would keep"));
  brim::kfac_work slow_sum = good;
  slow_sum.sync_statistic = brim::longest_duration;
  CHECK(refused_stream(slow_sum, {.fill = {}}, error_code::no_fill, "still pending after 4096 steps"));
  const brim::fill_stream free(pipeline, good);
  const brim::bytes limit = free.report().kept;
  const brim::fill_stream kept(pipeline, good, brim::fills::oldest_longest{},
                               {.fill = {.kept_limits = {limit, limit, limit, limit}}});
  CHECK(kept.report().kept <= limit);
}

#endif
