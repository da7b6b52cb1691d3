// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/concepts.hpp>
#include <brim/scheme/slot_rule.hpp>

#include <vector>

namespace brim::schemes {

/// Pairs of pipelines that run through the same devices in opposite directions (Li and Hoefler, arXiv 2107.06925).
///
/// Each device holds one stage of every route: `2 * pairs` copies of the weights. With one pair and equal stages,
/// forward = backward and microbatches a multiple of devices, the bubble is (devices − 2) / (2·microbatches + devices − 2)
/// of the makespan; in general it follows from the timeline, since inner bubbles appear where forward ≠ backward.
/// Accepts an even number of devices that is a multiple of `2 * pairs`, with any number of microbatches.
struct chimera {
  static constexpr std::string_view name = "chimera";

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const {
    if (shape.chunks != 1) return "a device holds one stage of each route, so chunks must be 1";
    if (shape.pairs < 1 || shape.pairs > shape.devices / 2 || shape.devices % (2 * shape.pairs) != 0)
      return "the number of devices must be a multiple of twice the number of pairs";
    return "";
  }
  [[nodiscard]] constexpr brim::placement placement(const pipeline_shape& shape) const { return mirrored_pairs(shape); }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    const std::int32_t p = shape.devices;
    const std::int32_t routes = 2 * shape.pairs;
    std::vector<slot_rule::held> own;  // the inverse of `mirrored_pairs`
    for (std::int32_t r = 0; r < routes && r < shape.microbatches; ++r) {
      const std::int32_t down = r % 2 == 0 ? device.value : p - 1 - device.value;
      own.push_back({route_index(r), stage_index((down + p - (r / 2) * (p / shape.pairs)) % p)});
    }
    slot_rule{.unit = shape.devices / (2 * shape.pairs), .routes = routes, .stages = p}.order(shape, own, out);
  }
};
static_assert(pipeline_scheme<chimera>);

}  // namespace brim::schemes
