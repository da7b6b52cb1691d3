// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>
#include <brim/model/costs.hpp>
#include <brim/model/placement.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace brim {

/// One layer of a stage, as a second-order optimizer sees it. Durations are those of one replica at speed 1.
struct layer_profile {
  std::string name{};
  std::int32_t inputs = 0;   ///< columns of the weight matrix; 0 where unknown
  std::int32_t outputs = 0;  ///< rows of the weight matrix; 0 where unknown
  ticks statistic_a = 0;     ///< one microbatch's share of the input-side statistic
  ticks statistic_b = 0;     ///< one microbatch's share of the output-side statistic
  ticks refresh_a = 0;       ///< inverse, root or basis of the input side
  ticks refresh_b = 0;       ///< inverse, root or basis of the output side
  ticks precondition = 0;    ///< once a step
  bytes saved_inputs = 0;    ///< kept for one microbatch until its input-side statistic has run
  bytes saved_errors = 0;    ///< kept for one microbatch until its output-side statistic has run
  bytes factors = 0;         ///< the statistics themselves

  friend bool operator==(const layer_profile&, const layer_profile&) = default;
};

/// What a stage keeps in memory.
struct stage_memory {
  bytes weights = 0;                      ///< weights, gradients and optimizer state: held all the time
  bytes activations = 0;                  ///< of one microbatch, from the start of its forward
  bytes released_by_backward_input = 0;   ///< part of `activations` that the input half releases
  bytes released_by_backward_weight = 0;  ///< part of `activations` that the weight half releases

  friend bool operator==(const stage_memory&, const stage_memory&) = default;
};

struct stage_profile {
  stage_cost cost{};
  stage_memory memory{};
  std::vector<layer_profile> layers{};

  friend bool operator==(const stage_profile&, const stage_profile&) = default;
};

/// Time between neighbouring stages on different devices.
struct link_profile {
  ticks latency = 0;         ///< added to every transfer
  std::vector<ticks> p2p{};  ///< one value for all boundaries, or one a boundary; empty means 0

  friend bool operator==(const link_profile&, const link_profile&) = default;
};

struct device_profile {
  double speed = 1.0;  ///< a device of speed 2 takes half the profiled time
  bytes memory = 0;    ///< limit; 0 means none

  friend bool operator==(const device_profile&, const device_profile&) = default;
};

/// Measured cost and memory of every stage: the input of everything (`brim.profile/1`).
///
/// Models `cost_model` (through `prepare`) and `memory_model`. Times in ticks (nanoseconds), memory in bytes.
struct profile {
  std::string name{};
  std::string source{};
  std::vector<stage_profile> stages{};  ///< one entry is repeated for every stage
  link_profile links{};
  std::vector<device_profile> devices{};  ///< empty: equal devices; one entry is repeated

  [[nodiscard]] const stage_profile& stage(stage_index s) const {
    return stages.size() == 1 ? stages.front() : stages[s.at()];
  }
  [[nodiscard]] device_profile device(device_index d) const {
    return devices.empty() ? device_profile{} : devices.size() == 1 ? devices.front() : devices[d.at()];
  }
  /// `time` on device `d`, rounded up: a device of speed 0.5 takes twice as long.
  [[nodiscard]] ticks on_device(ticks time, device_index d) const;

  [[nodiscard]] ticks duration(const action& what, device_index d) const {
    return on_device(stage(what.stage).cost.of(what.kind), d);
  }
  [[nodiscard]] ticks transfer(stage_index lower) const {
    if (links.p2p.empty()) return links.latency;
    return links.latency + (links.p2p.size() == 1 ? links.p2p.front() : links.p2p[lower.at()]);
  }
  /// The same costs as a table. Errors: those of `check_profile`.
  [[nodiscard]] placed_costs prepare(const placement& where) const;

  [[nodiscard]] bytes at_start(const action& what, device_index) const {
    return what.kind == action_kind::forward ? stage(what.stage).memory.activations : 0;
  }
  [[nodiscard]] bytes at_end(const action& what, device_index) const;
  [[nodiscard]] bytes resident(route_index, stage_index s) const { return stage(s).memory.weights; }

  friend bool operator==(const profile&, const profile&) = default;
};

/// Checks that a profile has values of possible size and one stage, device and link for each that the placement needs
/// (or a single one, which is repeated). Errors: `bad_profile`, naming the entry.
void check_profile(const profile& costs, const placement& where);

}  // namespace brim

#include <brim/model/profile_impl.hpp>
