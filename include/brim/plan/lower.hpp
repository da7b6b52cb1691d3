// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/filled.hpp>
#include <brim/model/concepts.hpp>
#include <brim/plan/emit.hpp>
#include <brim/plan/plan.hpp>
#include <brim/schedule/lower_bound.hpp>
#include <brim/schedule/memory.hpp>
#include <brim/schedule/metrics.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace brim {

/// How a timeline becomes a plan.
struct lowering_options {
  brim::transport transport = brim::transport::one_queue;
  std::int32_t replica = 0;  ///< the data-parallel replica to plan for
};

namespace detail {

/// Entries of the other replicas that take part in collectives, with the times of the whole plan.
inline std::vector<timed_action> foreign_collectives(const filled& f, std::int32_t replica) {
  std::vector<timed_action> out;
  const auto add = [&](const placed_work& w, std::int32_t step, std::int32_t origin_step) {
    const ticks shift = step * f.step_length;
    out.push_back({w.what, w.device, step, origin_step, w.piece, w.pieces, {w.time.start + shift, w.time.end + shift}});
  };
  for (const placed_work& w : f.work)
    if (w.replica != replica && is_collective(w.what.kind)) add(w, w.step, w.origin_step);
  for (std::int32_t step = 0; step < f.cycle_length; ++step)
    for (const placed_work& w : f.tail)
      if (w.replica != replica && is_collective(w.what.kind)) add(w, step, step);
  return out;
}

inline plan lower_steps(const timeline_view& t, std::int32_t steps, ticks step_length, const lowering_options& options,
                        const filled* fill) {
  check_lowerable(t, steps, step_length, fill == nullptr ? 0 : fill->tail.size());
  plan p;
  p.scheme = t.scheme;
  p.shape = t.shape;
  p.transport = options.transport;
  p.replica = options.replica;
  p.where = {.devices = t.shape.devices,
             .routes = t.routes,
             .stages = t.stages,
             .holders = {t.holders.begin(), t.holders.end()}};
  p.steps = steps;
  p.step_length = step_length;
  std::vector<placed_work> work, tail;
  std::vector<timed_action> foreign;
  if (fill != nullptr) {
    p.replicas = fill->replicas;
    check_lowerable(t, fill->work, steps, fill->replicas);
    check_lowerable(t, fill->tail, steps, fill->replicas);
    work = replica_work(fill->work, options.replica);
    tail = replica_work(fill->tail, options.replica);
    foreign = foreign_collectives(*fill, options.replica);
  }
  p.timeline = placed_actions(t, steps, step_length, work, tail);
  const tie_levels levels(t);
  total_order order(t, levels, p.timeline);
  if (fill != nullptr) order.add_collectives(p.timeline, foreign);
  emitter(p, order).run();

  p.metrics.makespan = makespan(t);
  for (const device_index d : devices(t.shape)) p.metrics.spans.push_back(span_of(t, d));
  p.metrics.period = period(t);
  p.metrics.bubble_ratio = bubble_ratio(t);
  p.metrics.utilization = used_share(p);
  return p;
}

}  // namespace detail

/// The plan of one step of a pipeline: compute in order of time, a send and a receive for every boundary between
/// stages on different devices, all transfers in one total order, and the fewest waits that keep every dependency.
///
/// Complexity: O(n log devices). Memory: 56 bytes a timeline entry, 52 an instruction. Errors: `bad_plan` where the
/// timeline's arrays contradict its shape. What comes out passes `verify` if the timeline is one of `simulate`.
/// Example: `examples/first_plan/`.
[[nodiscard]] inline plan lower(const timeline_view& t, const lowering_options& options = {}) {
  ticks length = 0;
  for (const interval& i : t.times) length = std::max(length, i.end);
  return detail::lower_steps(t, 1, length, options, nullptr);
}

/// The plan of a whole refresh cycle for one replica: as above, and second-order work on the compute streams,
/// collectives in one order on all holders of a stage in all replicas. Errors: as above, and `bad_plan` where there is
/// no such replica.
[[nodiscard]] inline plan lower(const filled& f, const lowering_options& options = {}) {
  if (options.replica < 0 || options.replica >= f.replicas)
    raise(error_code::bad_plan, detail::text("lower: there is no replica ", options.replica, " of ", f.replicas));
  plan p = detail::lower_steps(f.pipeline, f.cycle_length, f.step_length, options, &f);
  const auto devices_count = static_cast<std::size_t>(p.shape.devices);
  const std::size_t first = static_cast<std::size_t>(options.replica) * devices_count;
  for (std::size_t d = first; d < first + devices_count && d < f.report.devices.size(); ++d)
    p.metrics.refresh_interval.push_back(f.report.devices[d].refresh_interval);
  return p;
}

/// Adds to a plan's metrics what needs the costs: the lower bound and, where `costs` models memory too, the pipeline's
/// peak memory of every device.
template <cost_model Costs>
void measure(plan& p, const timeline_view& t, const Costs& costs) {
  p.metrics.lower_bound = makespan_bound(p.where, p.shape, costs, backward_form_of(t)).length;
  if constexpr (memory_model<Costs>) p.metrics.peak_memory = peak_memory(t, costs);
}

}  // namespace brim
