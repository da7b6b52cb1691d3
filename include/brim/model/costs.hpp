// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>
#include <brim/model/action.hpp>
#include <brim/model/concepts.hpp>
#include <brim/model/placement.hpp>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace brim {

/// The duration of a half of the backward that nobody measured: what the other half leaves of the whole, or half of it.
inline constexpr ticks unmeasured = -1;

/// The durations of a stage's pipeline actions.
struct stage_cost {
  ticks forward = 1;
  ticks backward = 2;
  ticks backward_input = unmeasured;
  ticks backward_weight = unmeasured;
  ticks recompute = 1;
  ticks optimizer_step = 0;

  /// 0 for kinds that are not the pipeline's.
  [[nodiscard]] constexpr ticks of(action_kind kind) const {
    switch (kind) {
      case action_kind::forward: return forward;
      case action_kind::backward: return backward;
      case action_kind::backward_input: return half(backward_input, backward_weight, backward - backward / 2);
      case action_kind::backward_weight: return half(backward_weight, backward_input, backward / 2);
      case action_kind::recompute: return recompute;
      case action_kind::optimizer_step: return optimizer_step;
      default: return 0;
    }
  }
  /// Whether all durations are equal, given or not.
  friend constexpr bool operator==(const stage_cost& a, const stage_cost& b) {
    return a.forward == b.forward && a.backward == b.backward &&
           a.of(action_kind::backward_input) == b.of(action_kind::backward_input) &&
           a.of(action_kind::backward_weight) == b.of(action_kind::backward_weight) && a.recompute == b.recompute &&
           a.optimizer_step == b.optimizer_step;
  }

 private:
  [[nodiscard]] constexpr ticks half(ticks own, ticks other, ticks guess) const {
    if (own != unmeasured) return own;
    return other == unmeasured ? guess : backward - other;
  }
};

/// Every stage costs the same, every transfer takes the same time.
struct uniform_cost {
  ticks forward = 1;
  ticks backward = 2;
  ticks backward_input = unmeasured;
  ticks backward_weight = unmeasured;
  ticks recompute = 1;
  ticks transfer_time = 0;

  [[nodiscard]] constexpr ticks duration(const action& what, device_index) const {
    return stage_cost{forward, backward, backward_input, backward_weight, recompute, 0}.of(what.kind);
  }
  [[nodiscard]] constexpr ticks transfer(stage_index) const { return transfer_time; }
};

/// Each stage and each boundary has costs of its own; the devices are equally fast.
struct stage_costs {
  std::vector<stage_cost> stages{};
  std::vector<ticks> transfers{};  ///< between stages `s` and `s + 1`; empty means 0 everywhere

  [[nodiscard]] constexpr ticks duration(const action& what, device_index) const {
    return stages[what.stage.at()].of(what.kind);
  }
  [[nodiscard]] constexpr ticks transfer(stage_index lower) const {
    return transfers.empty() ? 0 : transfers[lower.at()];
  }
};

/// Costs of every stage of every route on the device that holds it, in one contiguous table: what `prepare` of the
/// other models gives.
struct placed_costs {
  std::int32_t stages = 1;
  std::vector<stage_cost> table{};  ///< `routes * stages` entries
  std::vector<ticks> transfers{};   ///< `stages - 1` entries

  [[nodiscard]] constexpr ticks duration(const action& what, device_index) const {
    return table[what.route.at() * static_cast<std::size_t>(stages) + what.stage.at()].of(what.kind);
  }
  [[nodiscard]] constexpr ticks transfer(stage_index lower) const { return transfers[lower.at()]; }
};

/// Calls `use` with the form of `costs` that is cheapest to look up for this placement.
template <cost_model Costs, class Use>
constexpr auto with_prepared(const Costs& costs, const placement& where, Use use) {
  if constexpr (preparable_cost_model<Costs>)
    return use(costs.prepare(where));
  else
    return use(costs);
}

/// Every microbatch keeps `activation` bytes from the start of its forward; a whole backward releases all of it, the
/// two halves release their own shares.
struct uniform_memory {
  bytes activation = 1;
  bytes released_by_backward_input = 0;
  bytes weights = 0;

  [[nodiscard]] constexpr bytes at_start(const action& what, device_index) const {
    return what.kind == action_kind::forward ? activation : 0;
  }
  [[nodiscard]] constexpr bytes at_end(const action& what, device_index) const {
    switch (what.kind) {
      case action_kind::backward: return -activation;
      case action_kind::backward_input: return -released_by_backward_input;
      case action_kind::backward_weight: return released_by_backward_input - activation;
      default: return 0;
    }
  }
  [[nodiscard]] constexpr bytes resident(route_index, stage_index) const { return weights; }
};

}  // namespace brim
