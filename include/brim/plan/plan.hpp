// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>
#include <brim/model/action.hpp>
#include <brim/model/placement.hpp>
#include <brim/model/shape.hpp>
#include <brim/plan/transport.hpp>
#include <brim/schedule/timeline.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace brim {

/// An event of one device: recorded by one instruction, waited for by instructions of the device's other streams.
using event_index = basic_index<struct event_tag>;

/// An action with its place in time. Times run from the start of the plan: step `k` starts at `k * step_length`.
struct timed_action {
  action what;
  device_index device{0};
  std::int32_t step = 0;
  std::int32_t origin_step = 0;  ///< step whose statistics it belongs to; equal to `step` for everything else
  std::int32_t piece = 0;        ///< which piece of a divided item
  std::int32_t pieces = 1;
  interval time;

  friend constexpr bool operator==(const timed_action&, const timed_action&) = default;
};
static_assert(sizeof(timed_action) <= 64);

/// One entry of a stream. A device issues it when the instruction before it in its stream has finished and every event
/// of `waits` is recorded. 52 bytes.
///
/// `what.stage` is the stage on this device: a `send_activation` names the stage that made the activation, the matching
/// `recv_activation` the stage that uses it.
struct instruction {
  action what;
  device_index peer{-1};  ///< the other device of a send or receive, else −1
  std::int32_t tag = -1;  ///< equal on both ends of a transfer and on all members of a collective, else −1
  std::int32_t step = 0;
  std::int32_t origin_step = 0;  ///< as in `timed_action`
  std::int32_t piece = 0;
  std::int32_t pieces = 1;
  std::uint32_t first_wait = 0;  ///< position in `plan::waits`
  std::uint32_t wait_count = 0;
  event_index records{-1};  ///< recorded when the instruction has finished; −1 for none

  friend constexpr bool operator==(const instruction&, const instruction&) = default;
};
static_assert(sizeof(instruction) <= 64);

/// Instructions that a device issues in order. Streams of a device run side by side, joined by events alone.
struct stream {
  device_index device{0};
  stream_kind kind = stream_kind::compute;
  device_index peer{-1};    ///< of the queues of `queue_per_edge`, else −1
  std::uint32_t begin = 0;  ///< positions in `plan::instructions`
  std::uint32_t end = 0;

  friend constexpr bool operator==(const stream&, const stream&) = default;
};

/// What is known of a plan's quality. Of the pipeline alone where not stated; 0 or empty where nobody worked it out.
struct plan_metrics {
  ticks makespan = 0;                    ///< of one step
  std::vector<ticks> spans;              ///< of one step, device by device
  ticks period = 0;                      ///< distance of two steps without a barrier
  double bubble_ratio = 0;               ///< of the makespan
  double utilization = 0;                ///< with second-order work, of `plan::step_length`: `used_share`
  ticks lower_bound = 0;                 ///< of the makespan
  std::vector<bytes> peak_memory;        ///< device by device
  std::vector<double> refresh_interval;  ///< device by device: mean steps between two refreshes, worst layer

  friend bool operator==(const plan_metrics&, const plan_metrics&) = default;
};

/// What every device does in `steps` steps, in which order on which stream, and what waits for what. A value: print it,
/// compare it, save it. It repeats for ever; in the first repetition a backend leaves out the work of every entry with a
/// negative `origin_step` (it still records and waits), since its statistics do not exist yet.
struct plan {
  std::string scheme;
  pipeline_shape shape;
  placement where;
  brim::transport transport = brim::transport::one_queue;
  std::int32_t replica = 0;  ///< the data-parallel replica that this is for
  std::int32_t replicas = 1;
  std::int32_t steps = 1;              ///< length of the refresh cycle
  ticks step_length = 0;               ///< start of one step to start of the next
  std::vector<timed_action> timeline;  ///< device by device, step by step, by start; without transfers; empty: no times
  std::vector<stream> streams;         ///< device by device, the compute stream of a device first
  std::vector<instruction> instructions;  ///< stream by stream, without gaps
  std::vector<event_index> waits;         ///< shared by all instructions
  std::int32_t events = 0;                ///< events are 0 … events − 1
  plan_metrics metrics;

  /// The streams of one device. Complexity: logarithmic.
  [[nodiscard]] std::span<const stream> streams_of(device_index d) const {
    const auto first =
        std::partition_point(streams.begin(), streams.end(), [d](const stream& s) { return s.device < d; });
    const auto last = std::partition_point(first, streams.end(), [d](const stream& s) { return s.device == d; });
    return {first, last};
  }
  [[nodiscard]] std::span<const instruction> instructions_of(const stream& s) const {
    return std::span(instructions).subspan(s.begin, s.end - s.begin);
  }
  [[nodiscard]] std::span<const event_index> waits_of(const instruction& i) const {
    return std::span(waits).subspan(i.first_wait, i.wait_count);
  }
  friend bool operator==(const plan&, const plan&) = default;
};

[[nodiscard]] constexpr bool is_send(action_kind kind) {
  return kind == action_kind::send_activation || kind == action_kind::send_gradient;
}

[[nodiscard]] constexpr bool is_receive(action_kind kind) {
  return kind == action_kind::recv_activation || kind == action_kind::recv_gradient;
}

/// Sends, receives and collectives: what does not run on the compute stream, unless the transport is `blocking`.
[[nodiscard]] constexpr bool is_communication(action_kind kind) {
  return is_collective(kind) || is_send(kind) || is_receive(kind);
}

/// Share of the devices' time, over all steps, in which a compute stream does something; 0 for a plan without times.
[[nodiscard]] inline double used_share(const plan& p) {
  const double length = static_cast<double>(p.shape.devices) * p.steps * static_cast<double>(p.step_length);
  if (length == 0) return 0;
  double used = 0;
  for (const timed_action& a : p.timeline)
    if (!is_communication(a.what.kind)) used += static_cast<double>(a.time.length());
  return used / length;
}

}  // namespace brim
