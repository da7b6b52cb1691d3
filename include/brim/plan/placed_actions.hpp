// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/sort_key.hpp>
#include <brim/core/text.hpp>
#include <brim/fill/filled.hpp>
#include <brim/plan/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace brim::detail {

/// The order of second-order work that takes no time and starts at once: what another kind may depend on comes first.
/// A sum of gradients without a layer comes before they are preconditioned; one of a layer shares the result.
[[nodiscard]] constexpr std::int32_t phase_of(const action& a) {
  switch (a.kind) {
    case action_kind::statistic: return 0;
    case action_kind::sync_statistic: return 1;
    case action_kind::refresh: return 2;
    case action_kind::sync_refresh: return 3;
    case action_kind::sync_gradient: return a.layer.value < 0 ? 4 : 6;
    case action_kind::precondition: return 5;
    case action_kind::sync_norm: return 7;
    default: return 8;
  }
}

/// Work and tail of one replica in the order in which a device runs them, with the times of their own step.
inline std::vector<placed_work> replica_work(const std::vector<placed_work>& all, std::int32_t replica) {
  std::vector<placed_work> own;
  for (const placed_work& w : all)
    if (w.replica == replica) own.push_back(w);
  std::stable_sort(own.begin(), own.end(), [](const placed_work& x, const placed_work& y) {
    return sort_key(x.device, x.step, x.time.start, x.time.end, phase_of(x.what)) <
           sort_key(y.device, y.step, y.time.start, y.time.end, phase_of(y.what));
  });
  return own;
}

/// Appends one step of one device: three lists in order of time, merged into one. What takes no time goes first.
class step_merger {
 public:
  step_merger(std::vector<timed_action>& out, device_index device, std::int32_t step, ticks shift)
      : out_(out),
        device_(device),
        step_(step),
        shift_(shift) {}

  void merge(std::span<const action> row, std::span<const interval> times, std::span<const placed_work> work,
             std::span<const placed_work> tail) {
    std::size_t i = 0, w = 0, t = 0;
    while (i < row.size() || w < work.size() || t < tail.size()) {
      const bool row_first = i < row.size() && (w == work.size() || not_later(times[i], work[w].time)) &&
                             (t == tail.size() || not_later(times[i], tail[t].time));
      if (row_first) {
        push(row[i], step_, 0, 1, times[i]);
        ++i;
      } else if (w < work.size() && (t == tail.size() || not_later(work[w].time, tail[t].time))) {
        push(work[w].what, work[w].origin_step, work[w].piece, work[w].pieces, work[w].time);
        ++w;
      } else {
        push(tail[t].what, step_, tail[t].piece, tail[t].pieces, tail[t].time);
        ++t;
      }
    }
  }

 private:
  static bool not_later(const interval& x, const interval& y) {
    return sort_key(x.start, x.end) <= sort_key(y.start, y.end);
  }
  void push(const action& what, std::int32_t origin_step, std::int32_t piece, std::int32_t pieces,
            const interval& time) {
    out_.push_back({what, device_, step_, origin_step, piece, pieces, {time.start + shift_, time.end + shift_}});
  }

  std::vector<timed_action>& out_;
  device_index device_;
  std::int32_t step_;
  ticks shift_;
};

/// Everything that runs on the devices, device by device, step by step, in order of time.
inline std::vector<timed_action> placed_actions(const timeline_view& t, std::int32_t steps, ticks step_length,
                                                std::span<const placed_work> work, std::span<const placed_work> tail) {
  std::vector<timed_action> out;
  out.reserve(static_cast<std::size_t>(steps) * (t.actions.size() + tail.size()) + work.size());
  auto w = work.begin();
  auto tail_begin = tail.begin();
  for (const device_index d : devices(t.shape)) {
    const auto tail_end = std::find_if(tail_begin, tail.end(), [d](const placed_work& x) { return d < x.device; });
    for (std::int32_t step = 0; step < steps; ++step) {
      const auto work_end = std::find_if(
          w, work.end(), [d, step](const placed_work& x) { return sort_key(d, step) < sort_key(x.device, x.step); });
      step_merger(out, d, step, step * step_length)
          .merge(t.row(d), t.times_of(d), {w, work_end}, {tail_begin, tail_end});
      w = work_end;
    }
    tail_begin = tail_end;
  }
  return out;
}

/// Stops where the input is no timeline of its own placement or too large for a plan; everything else is `verify`'s.
inline void check_lowerable(const timeline_view& t, std::int32_t steps, ticks step_length, std::size_t extra) {
  check_shape(t.shape);
  const auto fail = [&t](const char* rule) { raise(error_code::bad_plan, text("lower: ", t.scheme, ": ", rule)); };
  if (t.stages < 1 || t.routes < 1 ||
      t.holders.size() != static_cast<std::size_t>(t.routes) * static_cast<std::size_t>(t.stages) ||
      t.actions.size() != t.times.size() || t.offsets.size() != static_cast<std::size_t>(t.shape.devices) + 1 ||
      t.offsets.front() != 0 || t.offsets.back() != t.actions.size() ||
      !std::is_sorted(t.offsets.begin(), t.offsets.end()))
    fail("the timeline's arrays do not fit its shape");
  for (const device_index d : t.holders)
    if (d.value < 0 || d.value >= t.shape.devices) fail("a stage is on a device that does not exist");
  for (const device_index d : devices(t.shape))
    for (const action& a : t.row(d))
      if (a.stage.value < 0 || a.stage.value >= t.stages || a.route.value < 0 || a.route.value >= t.routes ||
          a.microbatch.value < 0 || a.microbatch.value >= t.shape.microbatches || !is_pipeline_action(a.kind) ||
          t.device_of(a.route, a.stage) != d)
        fail("an action of the timeline is outside of its shape or on a device that does not hold its stage");
  if (steps < 1) fail("a plan needs at least one step");
  if (step_length < 0 || step_length > longest_schedule / steps) fail("the steps are longer than 2^61 ticks in all");
  constexpr std::size_t limit = std::size_t{1} << 29;  // with four transfers an action, positions stay below 2^31
  const auto n = static_cast<std::size_t>(steps);
  if (t.actions.size() > limit / n || extra > limit / n)
    fail("a plan may have at most 2^31 instructions: use fewer steps");
}

inline void check_lowerable(const timeline_view& t, std::span<const placed_work> work, std::int32_t steps,
                            std::int32_t replicas) {
  for (const placed_work& w : work)
    if (w.device.value < 0 || w.device.value >= t.shape.devices || w.step < 0 || w.step >= steps || w.replica < 0 ||
        w.replica >= replicas || w.what.stage.value < -1 || w.what.stage.value >= t.stages ||
        is_pipeline_action(w.what.kind))
      raise(error_code::bad_plan, text("lower: ", t.scheme, ": second-order work is outside of the filled steps"),
            {.device = w.device.value, .step = w.step, .stage = w.what.stage.value, .layer = w.what.layer.value});
}

}  // namespace brim::detail
