// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>
#include <brim/model/action.hpp>
#include <brim/schedule/timeline.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace brim {

/// A piece of second-order (or other optional) work with its place in the refresh cycle.
struct placed_work {
  action what{};  ///< kind, side, route, stage, microbatch (of a statistic), layer
  device_index device{0};
  std::int32_t replica = 0;      ///< data-parallel replica of the pipeline
  std::int32_t step = 0;         ///< step of the cycle in which it runs: 0 … cycle_length − 1
  std::int32_t origin_step = 0;  ///< step whose statistics it belongs to: at most `step`, negative in an earlier cycle
  std::int32_t piece = 0;        ///< which piece of a divided item
  std::int32_t pieces = 1;
  interval time{};  ///< relative to the start of `step`

  friend constexpr bool operator==(const placed_work&, const placed_work&) = default;
};

/// What a device gains and pays. Ratios are of the step with second-order work (`filled::step_length`).
struct device_report {
  double utilization_before = 0;  ///< pipeline work / length of the step without second-order work
  double utilization = 0;         ///< pipeline + second-order work / step
  double bound = 0;  ///< what `utilization` cannot exceed: every layer refreshed once a step, or no idle time
  double load = 0;   ///< work of one refresh of everything / bubble of one step
  double refresh_interval = 0;    ///< of the layer that is refreshed least often: mean steps between two refreshes
  std::int32_t greatest_age = 0;  ///< steps between the statistics and the precondition that uses them, worst layer
  ticks precondition = 0;         ///< time of one step spent on it
  bytes kept = 0;                 ///< greatest amount of inputs and errors kept beyond their own backward

  friend constexpr bool operator==(const device_report&, const device_report&) = default;
};

/// The same over all devices: means of the ratios, the worst of the rest.
struct fill_report {
  std::string_view policy{};
  double utilization_before = 0;
  double utilization = 0;
  double bound = 0;
  double load = 0;
  double refresh_interval = 0;
  std::int32_t greatest_age = 0;
  double overhead = 0;  ///< step with second-order work / step without − 1: what `precondition` costs
  bytes kept = 0;
  std::vector<device_report> devices{};  ///< replica by replica

  friend constexpr bool operator==(const fill_report&, const fill_report&) = default;
};

/// A pipeline step and the optional work in its bubbles: a table of `cycle_length` steps that repeats for ever.
///
/// Every step runs the whole `pipeline`, unchanged, then `tail`, and in between the entries of `work` with that `step`.
/// In the first cycle, entries whose `origin_step` is negative are skipped: their statistics do not exist yet.
struct filled {
  timeline pipeline{};
  std::int32_t replicas = 1;
  std::int32_t cycle_length = 1;
  ticks step_length = 0;            ///< start of one step to start of the next
  std::vector<placed_work> work{};  ///< by replica, device, step, start
  std::vector<placed_work> tail{};  ///< on the path at the end of every step; by replica, device, start; `step` is 0
  fill_report report{};

  friend constexpr bool operator==(const filled&, const filled&) = default;
};

}  // namespace brim
