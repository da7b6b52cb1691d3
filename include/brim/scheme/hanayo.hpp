// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/concepts.hpp>
#include <brim/scheme/slot_rule.hpp>

#include <vector>

namespace brim::schemes {

/// Waves: the stages run down and up the devices `chunks / 2` times, so one copy of the weights has the shape of Chimera's
/// two (Liu et al., arXiv 2308.15762).
///
/// Bubble with equal stages, forward = backward and microbatches a multiple of devices: 2·devices − 2 forwards of a chunk. Where
/// forward ≠ backward there are inner bubbles, also where the units of `devices` microbatches meet. Peak: devices − (devices − 1)
/// / chunks … devices microbatches. Accepts every shape with an even number of chunks.
struct hanayo {
  static constexpr std::string_view name = "hanayo";

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const {
    return shape.chunks % 2 == 0 ? "" : "a wave goes down the devices and up again, so chunks must be even";
  }
  [[nodiscard]] constexpr brim::placement placement(const pipeline_shape& shape) const { return zig_zag(shape); }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    const std::int32_t p = shape.devices;
    std::vector<slot_rule::held> own;
    own.reserve(static_cast<std::size_t>(shape.chunks));
    for (std::int32_t c = 0; c < shape.chunks; ++c)
      own.push_back({route_index(0), stage_index(c * p + (c % 2 == 0 ? device.value : p - 1 - device.value))});
    slot_rule{.unit = p, .routes = 1, .stages = p * shape.chunks}.order(shape, own, out);
  }
};
static_assert(pipeline_scheme<hanayo>);

}  // namespace brim::schemes
