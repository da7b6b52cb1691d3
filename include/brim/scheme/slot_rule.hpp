// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/order.hpp>

#include <vector>

namespace brim::schemes {

/// Orders the actions of a device by the time slots of an ideal schedule in which every action takes one slot.
///
/// The `j`-th microbatch of a route runs through stage `s` forward in slot 2j + s and backward in slot 2j + 2·stages − 1 − s.
/// A *unit* takes `unit` microbatches of each route; the next unit starts 2·`stages` slots later. On placements whose
/// actions never share a slot (one route of one stage a device, mirrored pairs) this gives a total order of all actions
/// that respects every dependency, so no order made from it can deadlock, also when microbatches are left out.
/// Complexity: linear in the slots, of which at most `2 * stages` stay empty on a device.
struct slot_rule {
  std::int32_t unit = 1;  ///< microbatches of each route in one unit

  constexpr void order(const pipeline_shape& shape, const placement& where, device_index device, auto& out) const {
    std::vector<action> slots;
    for (std::int32_t r = 0; r < where.routes; ++r)
      for (std::int32_t s = 0; s < where.stages; ++s)
        if (where.device_of(route_index(r), stage_index(s)) == device)
          for (std::int32_t m = r; m < shape.microbatches; m += where.routes) {
            const std::int32_t j = m / where.routes;
            const std::int32_t start = 2 * where.stages * (j / unit) + 2 * (j % unit);
            put(slots, start + s, {action_kind::forward, side::none, route_index(r), stage_index(s), microbatch_index(m), {}});
            put(slots, start + 2 * where.stages - 1 - s,
                {action_kind::backward, side::none, route_index(r), stage_index(s), microbatch_index(m), {}});
          }
    for (const action& a : slots) {
      if (a.stage.value < 0) continue;
      if (a.kind == action_kind::forward)
        out.forward(a.stage, a.microbatch, a.route);
      else
        out.backward(a.stage, a.microbatch, a.route);
    }
  }

 private:
  static constexpr void put(std::vector<action>& slots, std::int32_t slot, const action& a) {
    const auto at = static_cast<std::size_t>(slot);
    if (at >= slots.size()) slots.resize(at + 1);
    BRIM_EXPECT(slots[at].stage.value < 0);
    slots[at] = a;
  }
};

}  // namespace brim::schemes
