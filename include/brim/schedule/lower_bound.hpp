// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/model/costs.hpp>
#include <brim/schedule/timeline.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace brim {

/// A time that no schedule of these actions on this placement can undercut, and why.
struct lower_bound {
  enum class reason : std::uint8_t {
    path,  ///< one microbatch through all stages and back
    load,  ///< a device's own work, after the earliest input that it can have and before the shortest way out
  };

  ticks length = 0;
  reason binding = reason::path;
  device_index device{-1};  ///< the binding device; −1 for a path

  friend constexpr bool operator==(const lower_bound&, const lower_bound&) = default;
};

[[nodiscard]] constexpr std::string_view name_of(lower_bound::reason reason) {
  return reason == lower_bound::reason::path ? "path" : "load";
}

/// Lower bound on the makespan for this placement and these costs; the order is free.
///
/// The larger of the longest path of one microbatch and, over devices, head + own work + tail: the head is the shortest
/// time before any stage of the device can start, the tail the shortest time from the end of a stage's backward to the
/// end of the step. Where backwards come in halves, only input halves lie on the way back, and a weight half may end the step,
/// so that there is no tail. Durations of microbatch 0 of each route stand for all. Complexity: O(routes × stages).
template <cost_model Costs>
[[nodiscard]] constexpr lower_bound makespan_bound(const placement& where, const pipeline_shape& shape,
                                                   const Costs& model, backward_form form = backward_form::whole) {
  return with_prepared(model, where, [&](const auto& costs) {
    const auto devices_count = static_cast<std::size_t>(where.devices);
    std::vector<ticks> work(devices_count, 0);
    std::vector<ticks> head(devices_count, -1);
    std::vector<ticks> tail(devices_count, -1);
    lower_bound best{};
    for (std::int32_t r = 0; r < where.routes && r < shape.microbatches; ++r) {
      const std::int64_t share = (shape.microbatches - r + where.routes - 1) / where.routes;
      ticks before = 0;
      ticks after = 0;
      for (std::int32_t s = 0; s < where.stages; ++s) {
        const device_index d = where.device_of(route_index(r), stage_index(s));
        if (s > 0 && where.device_of(route_index(r), stage_index(s - 1)) != d) {
          before += costs.transfer(stage_index(s - 1));
          after += costs.transfer(stage_index(s - 1));
        }
        const action forward{action_kind::forward, side::none,          route_index(r),
                             stage_index(s),       microbatch_index(r), layer_index(-1)};
        action backward = forward;
        backward.kind = action_kind::backward;
        head[d.at()] = head[d.at()] < 0 ? before : std::min(head[d.at()], before);
        tail[d.at()] = tail[d.at()] < 0 ? after : std::min(tail[d.at()], after);
        const ticks f = costs.duration(forward, d);
        const ticks whole = costs.duration(backward, d);
        ticks back = whole;  // what the stage below waits for
        ticks all = whole;
        if (form == backward_form::halves) {
          backward.kind = action_kind::backward_input;
          const ticks input = costs.duration(backward, d);
          backward.kind = action_kind::backward_weight;
          back = std::min(whole, input);
          all = std::min(whole, input + costs.duration(backward, d));
        }
        work[d.at()] += share * (f + all);
        before += f;
        after += back;
      }
      best.length = std::max(best.length, before + after);
    }
    for (std::size_t d = 0; d < devices_count; ++d) {
      const ticks out = form == backward_form::whole ? std::max<ticks>(tail[d], 0) : 0;
      const ticks load = std::max<ticks>(head[d], 0) + work[d] + out;
      if (load > best.length) best = {load, lower_bound::reason::load, device_index(static_cast<std::int64_t>(d))};
    }
    return best;
  });
}

/// Whether any backward of a timeline comes in halves. Complexity: linear.
[[nodiscard]] constexpr backward_form backward_form_of(const timeline_view& t) {
  const bool halves = std::any_of(t.actions.begin(), t.actions.end(),
                                  [](const action& a) { return a.kind == action_kind::backward_input; });
  return halves ? backward_form::halves : backward_form::whole;
}

/// The bound of a timeline's own placement, shape, form of backwards, and costs.
template <cost_model Costs>
[[nodiscard]] constexpr lower_bound makespan_bound(const timeline& t, const Costs& costs) {
  return makespan_bound(t.program.where, t.program.shape, costs, backward_form_of(t));
}

}  // namespace brim
