// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/concepts.hpp>

namespace brim::schemes {

/// Why a scheme with one pair of opposite routes refuses a shape.
[[nodiscard]] constexpr std::string_view two_way_refusal(const pipeline_shape& shape) {
  if (shape.devices % 2 != 0) return "two opposite routes share the devices, so their number must be even";
  return shape.pairs == 1 ? "" : "there are two opposite routes, so pairs must be 1";
}

/// Least memory: two opposite pipelines, and the microbatches one by one, each on the other one of the two (Jain et al.,
/// GEMS, SC'20). A device keeps one microbatch and two copies of the weights.
///
/// While a microbatch comes back up, the next one goes down the other route; nothing else overlaps, so the bubble is about
/// (devices − 1) / (devices + 1/2) of the makespan where a backward takes two forwards. Accepts an even number of devices.
struct gems {
  static constexpr std::string_view name = "gems";

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const {
    return shape.chunks == 1 ? two_way_refusal(shape) : "a device holds one stage of each route, so chunks must be 1";
  }
  [[nodiscard]] constexpr brim::placement placement(const pipeline_shape& shape) const {
    return two_way(one_stage_a_device(shape));
  }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    for (const microbatch_index m : microbatches(shape)) {
      const route_index route(m.value % 2);
      const stage_index stage(route.value == 0 ? device.value : shape.devices - 1 - device.value);
      out.forward(stage, m, route);
      out.backward(stage, m, route);
    }
  }
};
static_assert(pipeline_scheme<gems>);

}  // namespace brim::schemes
