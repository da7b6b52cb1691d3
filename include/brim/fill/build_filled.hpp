// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/sort_key.hpp>
#include <brim/fill/analysis.hpp>
#include <brim/fill/filled.hpp>
#include <brim/fill/group_cycle.hpp>
#include <brim/fill/prepare.hpp>
#include <brim/schedule/metrics.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// Gives a run's pieces their public form.
class placement_writer {
 public:
  placement_writer(const work_set& work, const bubble_set& bubbles, std::int32_t devices)
      : work_(work),
        bubbles_(bubbles),
        devices_(devices) {}

  /// `first` is the step of the run that becomes step 0.
  [[nodiscard]] placed_work piece(const run_piece& p, std::int32_t first) const {
    const work_batch& batch = work_.batches[static_cast<std::size_t>(p.batch)];
    placed_work out = on_lane(batch.what, batch.lane, p.step, p.step - first, p.origin - first, p.time);
    if (batch.release_count > 0) {
      out.what.microbatch =
          work_.releases[batch.first_release + static_cast<std::uint32_t>(p.piece / batch.division)].microbatch;
      out.piece = p.piece % batch.division;
      out.pieces = batch.division;
    } else {
      out.piece = p.piece;
      out.pieces = batch.pieces;
    }
    return out;
  }

  [[nodiscard]] placed_work tail(const tail_work& t, ticks start) const {
    return {.what = t.what,
            .device = device_index(t.lane % devices_),
            .replica = t.lane / devices_,
            .time = {start, start + t.duration}};
  }

  /// The sums over replicas that refreshes wait for: one entry on every lane that took part, from the moment the last
  /// statistic of a side is done. `use(entry, step of the run)`.
  template <class Use>
  void sums(std::span<const run_piece> pieces, std::int32_t first, Use use) const {
    struct sum {
      std::int32_t unit, origin;
      brim::side which;
      std::int64_t missing = 0;
      ticks done = 0;
    };
    std::vector<sum> open;
    std::vector<const run_piece*> by_time;
    for (const run_piece& p : pieces) by_time.push_back(&p);
    std::stable_sort(by_time.begin(), by_time.end(),
                     [](const run_piece* a, const run_piece* b) { return a->time.end < b->time.end; });
    for (const run_piece* p : by_time) {
      const work_batch& batch = work_.batches[static_cast<std::size_t>(p->batch)];
      if (batch.what.kind != action_kind::statistic || !shared(batch.unit)) continue;
      auto at = std::find_if(open.begin(), open.end(), [&](const sum& s) {
        return s.unit == batch.unit && s.origin == p->origin && s.which == batch.what.side;
      });
      if (at == open.end())
        at = open.insert(open.end(),
                         {batch.unit, p->origin, batch.what.side, statistics_of(batch.unit, batch.what.side), 0});
      at->done = std::max(at->done, p->time.end);
      if (--at->missing > 0) continue;
      emit_sum(batch.unit, batch.what.side, p->origin, at->done, first, use);
      open.erase(at);
    }
  }

 private:
  [[nodiscard]] placed_work on_lane(action what, std::int32_t lane, std::int32_t run_step, std::int32_t step,
                                    std::int32_t origin, interval run_time) const {
    const ticks begin = run_step * bubbles_.step_length;
    return {.what = what,
            .device = device_index(lane % devices_),
            .replica = lane / devices_,
            .step = step,
            .origin_step = origin,
            .time = {run_time.start - begin, run_time.end - begin}};
  }

  [[nodiscard]] bool shared(std::int32_t u) const {
    const work_unit& unit = work_.units[static_cast<std::size_t>(u)];
    for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b)
      if (work_.batches[b].lane != work_.batches[unit.first_batch].lane) return true;
    return false;
  }

  [[nodiscard]] std::int64_t statistics_of(std::int32_t u, brim::side which) const {
    const work_unit& unit = work_.units[static_cast<std::size_t>(u)];
    std::int64_t count = 0;
    for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b)
      if (work_.batches[b].what.kind == action_kind::statistic && work_.batches[b].what.side == which)
        count += work_.batches[b].pieces;
    return count;
  }

  template <class Use>
  void emit_sum(std::int32_t u, brim::side which, std::int32_t origin, ticks done, std::int32_t first, Use use) const {
    const auto step = static_cast<std::int32_t>((done - 1) / bubbles_.step_length);
    const ticks begin = step * bubbles_.step_length;
    ticks delay = 0;
    const work_unit& unit = work_.units[static_cast<std::size_t>(u)];
    for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b)
      delay = std::max(delay, work_.batches[b].delay);
    for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b) {
      const work_batch& batch = work_.batches[b];
      if (batch.what.kind != action_kind::statistic || batch.what.side != which) continue;
      action what = batch.what;
      what.kind = action_kind::sync_statistic;
      use(placed_work{.what = what,
                      .device = device_index(batch.lane % devices_),
                      .replica = batch.lane / devices_,
                      .step = step - first,
                      .origin_step = origin - first,
                      .time = {done - begin, done - begin + delay}},
          step);
    }
  }

  const work_set& work_;
  const bubble_set& bubbles_;
  std::int32_t devices_;
};

inline bool before_in_plan(const placed_work& a, const placed_work& b) {
  const auto key = [](const placed_work& w) {
    return sort_key(w.replica, w.device, w.step, w.time.start, w.time.end, w.what.kind, w.what.stage, w.what.layer,
                    w.what.side, w.what.microbatch, w.piece);
  };
  return key(a) < key(b);
}

/// Appends the window of a group, repeated until `cycle_length` steps are full.
inline void append_work(filled& out, const placement_writer& writer, const group_cycle& cycle) {
  const std::int32_t first = cycle.window.first;
  const std::int32_t steps = cycle.window.steps;
  const std::size_t begin = out.work.size();
  for (const run_piece& p : cycle.pieces)
    if (p.step >= first && p.step < first + steps) out.work.push_back(writer.piece(p, first));
  writer.sums(cycle.pieces, first, [&](const placed_work& entry, std::int32_t step) {
    if (step >= first && step < first + steps) out.work.push_back(entry);
  });
  const std::size_t end = out.work.size();
  for (std::int32_t shift = steps; shift + steps <= out.cycle_length; shift += steps)
    for (std::size_t i = begin; i < end; ++i) {
      placed_work entry = out.work[i];
      entry.step += shift;
      entry.origin_step += shift;
      out.work.push_back(entry);
    }
}

/// Numbers of every lane, from the placed pieces themselves.
inline fill_report make_report(const timeline_view& pipeline, const prepared_fill& prepared,
                               const std::vector<group_cycle>& cycles, std::string_view policy) {
  const std::int32_t devices = pipeline.shape.devices;
  const bubble_set& bubbles = prepared.bubbles;
  const std::size_t lanes = bubbles.tail.size();
  fill_report report{.policy = policy};
  report.devices.resize(lanes);
  std::vector<tail_work> plain = prepared.work.tail;
  std::erase_if(plain, [](const tail_work& t) { return t.what.kind == action_kind::precondition; });
  ticks plain_end = bubbles.makespan;
  for (const interval& time : tail_clock(plain, bubbles.makespan, lanes).run())
    plain_end = std::max(plain_end, time.end);
  std::vector<ticks> preconditioning(lanes, 0);
  std::vector<ticks> other_tail(lanes, 0);
  for (const tail_work& t : prepared.work.tail) {
    std::vector<ticks>& sums = t.what.kind == action_kind::precondition ? preconditioning : other_tail;
    sums[static_cast<std::size_t>(t.lane)] += t.duration;
  }
  const auto plain_step = static_cast<double>(plain_end);
  const auto step = static_cast<double>(bubbles.step_length);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    device_report& d = report.devices[lane];
    const auto busy = static_cast<double>(busy_of(pipeline, device_index(static_cast<std::int64_t>(lane) % devices)));
    d.precondition = preconditioning[lane];
    d.utilization_before = plain_step == 0 ? 0 : (busy + static_cast<double>(other_tail[lane])) / plain_step;
    d.utilization = step == 0 ? 0 : (busy + static_cast<double>(bubbles.tail[lane])) / step;
    d.bound = d.utilization;
  }
  for (std::size_t g = 0; g < prepared.groups.size(); ++g) {
    const fill_group& group = prepared.groups[g];
    const group_load load = load_of(prepared.work, bubbles, group);
    for (std::size_t i = 0; i < group.lanes.size(); ++i) {
      device_report& d = report.devices[static_cast<std::size_t>(group.lanes[i])];
      const auto idle = static_cast<double>(load.capacity[i]);
      const auto work = static_cast<double>(load.work[i]);
      d.load = idle == 0 ? 0 : work / idle;
      d.bound += std::min(idle, work) / step;
      const lane_numbers& numbers = cycles[g].lanes[i];
      d.utilization += static_cast<double>(numbers.work) / cycles[g].window.steps / step;
      d.refresh_interval = numbers.interval;
      d.greatest_age = numbers.greatest_age;
      d.kept = numbers.kept;
    }
  }
  for (const device_report& d : report.devices) {
    const auto share = 1.0 / static_cast<double>(lanes);
    report.utilization_before += d.utilization_before * share;
    report.utilization += d.utilization * share;
    report.bound += d.bound * share;
    report.load = std::max(report.load, d.load);
    report.refresh_interval = std::max(report.refresh_interval, d.refresh_interval);
    report.greatest_age = std::max(report.greatest_age, d.greatest_age);
    report.kept = std::max(report.kept, d.kept);
  }
  report.overhead = plain_step == 0 ? 0 : step / plain_step - 1;
  return report;
}

inline std::vector<placed_work> place_tail(const prepared_fill& prepared, const placement_writer& writer) {
  std::vector<placed_work> out;
  for (std::size_t i = 0; i < prepared.work.tail.size(); ++i)
    out.push_back(writer.tail(prepared.work.tail[i], prepared.bubbles.tail_times[i].start));
  return out;
}

}  // namespace brim::detail
