// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/order.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace brim::schemes {

/// Orders the actions of a device by the time slots of an ideal schedule in which every action takes one slot.
///
/// The `j`-th microbatch of a route runs through stage `s` forward in slot 2j + s and backward in slot 2j + 2·stages − 1 − s.
/// A *unit* takes `unit` microbatches of each route; the next unit starts 2·`stages` slots later. On placements whose
/// actions never share a slot (one route of one stage a device, mirrored pairs) this gives a total order of all actions
/// that respects every dependency, so no order made from it can deadlock, also when microbatches are left out.
/// Complexity: linear in the actions of the device; n log n where most slots are empty.
struct slot_rule {
  /// A stage of a route that the device holds.
  struct held {
    route_index route;
    stage_index stage;
  };

  std::int32_t unit = 1;  ///< microbatches of each route in one unit
  std::int32_t routes = 1;
  std::int32_t stages = 1;  ///< of each route

  constexpr void order(const pipeline_shape& shape, std::span<const held> own, auto& out) const {
    std::vector<placed> found;
    for (const auto [route, stage] : own)
      for (std::int32_t m = route.value; m < shape.microbatches; m += routes) {
        const std::int32_t j = m / routes;
        const std::int32_t start = 2 * stages * (j / unit) + 2 * (j % unit);
        const microbatch_index microbatch(m);
        found.push_back({start + stage.value, {action_kind::forward, side::none, route, stage, microbatch, {}}});
        found.push_back(
            {start + 2 * stages - 1 - stage.value, {action_kind::backward, side::none, route, stage, microbatch, {}}});
      }
    sort_by_slot(found);
    for (const auto& [slot, a] : found) {
      if (a.kind == action_kind::forward)
        out.forward(a.stage, a.microbatch, a.route);
      else
        out.backward(a.stage, a.microbatch, a.route);
    }
  }

 private:
  struct placed {
    std::int32_t slot = -1;
    action what{};
  };

  /// Puts each action into its slot where most slots are taken; sorts where few are, as with few microbatches.
  static constexpr void sort_by_slot(std::vector<placed>& found) {
    std::int32_t last = 0;
    for (const placed& one : found) last = std::max(last, one.slot);
    if (static_cast<std::size_t>(last) > 4 * found.size()) {
      std::sort(found.begin(), found.end(), [](const placed& a, const placed& b) { return a.slot < b.slot; });
      return;
    }
    std::vector<placed> slots(static_cast<std::size_t>(last) + 1);
    for (const placed& one : found) {
      BRIM_EXPECT(slots[static_cast<std::size_t>(one.slot)].slot < 0);
      slots[static_cast<std::size_t>(one.slot)] = one;
    }
    std::erase_if(slots, [](const placed& one) { return one.slot < 0; });
    found = std::move(slots);
  }
};

}  // namespace brim::schemes
