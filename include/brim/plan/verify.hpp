// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/maybe.hpp>
#include <brim/model/concepts.hpp>
#include <brim/plan/check_complete.hpp>
#include <brim/plan/check_cycles.hpp>
#include <brim/plan/check_metrics.hpp>
#include <brim/plan/check_order.hpp>
#include <brim/plan/check_structure.hpp>
#include <brim/plan/check_timeline.hpp>
#include <brim/plan/fault.hpp>
#include <brim/plan/plan.hpp>
#include <brim/plan/stuck.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace brim {
namespace detail {

/// Runs all checks; true where the plan is right.
inline bool check_plan(plan_index& index) {
  std::vector<late_entry> late;
  plan_times times{index.p};
  return structure_check(index).run() && order_check(index, late).run() && timeline_check(index, late, times).run() &&
         cycle_check(index, late, times).run() && complete_check(index, late).run() && metrics_check(index).run() &&
         check_progress(index);
}

}  // namespace detail

/// The first fault of a plan; nothing where it is right. Takes any value of the type, however wrong.
///
/// Right means: every microbatch goes forward and backward once through every stage, on the device that holds it, after
/// its input; every transfer has both ends and every collective all its members; second-order work sees one refresh
/// cycle and all of it, and is used; the timeline and the metrics say the same as the streams; and under
/// `plan::transport` every stream comes to its end. The list of rules, and what is taken as given, is in
/// docs/reference/plan.md. A plan without a timeline is checked without times.
///
/// Complexity: linear in instructions, O(k log k) in the k entries of second-order work.
[[nodiscard]] inline maybe<fault> find_fault(const plan& p) {
  detail::plan_index index{p};
  detail::check_plan(index);
  return std::move(index.found);
}

/// The greatest number of bytes in use on every device, for a right plan: what its stages keep all the time, and the
/// changes of every action in the order of the compute stream, over all steps.
template <memory_model Memory>
[[nodiscard]] std::vector<bytes> peak_memory(const plan& p, const Memory& memory) {
  std::vector<bytes> used(static_cast<std::size_t>(p.shape.devices), 0);
  const auto held = [&](route_index r, stage_index s) -> bytes& { return used[p.where.device_of(r, s).at()]; };
  for (std::int32_t r = 0; r < p.where.routes; ++r)
    for (std::int32_t s = 0; s < p.where.stages; ++s)
      held(route_index(r), stage_index(s)) =
          detail::bounded_sum(held(route_index(r), stage_index(s)), memory.resident(route_index(r), stage_index(s)));
  std::vector<bytes> peaks = used;
  for (const stream& s : p.streams) {
    if (s.kind != stream_kind::compute) continue;
    bytes& now = used[s.device.at()];
    for (const instruction& i : p.instructions_of(s)) {
      if (i.what.stage.value < 0 || is_communication(i.what.kind)) continue;
      now = detail::bounded_sum(now, memory.at_start(i.what, s.device));
      peaks[s.device.at()] = std::max(peaks[s.device.at()], now);
      now = detail::bounded_sum(now, memory.at_end(i.what, s.device));
    }
  }
  return peaks;
}

/// As above, and `over_memory` where a device needs more than its limit. A limit of 0 means none; a single one is for
/// every device.
template <memory_model Memory>
[[nodiscard]] maybe<fault> find_fault(const plan& p, const Memory& memory, std::span<const bytes> limits) {
  if (maybe<fault> found = find_fault(p)) return found;
  const std::vector<bytes> peaks = peak_memory(p, memory);
  for (std::size_t d = 0; d < peaks.size(); ++d) {
    const bytes limit = limits.size() == 1 ? limits[0] : d < limits.size() ? limits[d] : 0;
    if (limit > 0 && peaks[d] > limit)
      return fault{error_code::over_memory,
                   detail::text("plan ", p.scheme, ": device ", d, " needs ", peaks[d],
                                " bytes at its peak, its limit is ", limit, " bytes"),
                   {.device = static_cast<std::int32_t>(d)}};
  }
  return {};
}

/// Stops at the first fault of a plan. Errors: `bad_plan`; `deadlock`, with the place where every stream stopped.
inline void verify(const plan& p) {
  if (const maybe<fault> found = find_fault(p)) raise(found->code, found->sentence, found->site);
}

/// As above, and with memory. Errors: as above, and `over_memory`.
template <class Memory>
void verify(const plan& p, const Memory& memory, std::span<const bytes> limits) {
  if constexpr (check_memory_model<Memory>())
    if (const maybe<fault> found = find_fault(p, memory, limits)) raise(found->code, found->sentence, found->site);
}

}  // namespace brim
