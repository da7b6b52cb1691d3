// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/building_block.hpp>
#include <brim/scheme/concepts.hpp>

#include <algorithm>

namespace brim::schemes {

/// A V of two chunks without bubble in the devices' spans and with the memory of 1F1B (ZB-V of Qi et al., arXiv 2401.10241).
///
/// Bubble of the longest span with equal stages, backward_weight <= forward <= backward_input, microbatches >= 2·devices − 1,
/// without transfers: (devices − 1)(backward_input − backward_weight) of a device, so none where all are equal. Peak:
/// min(microbatches, devices) microbatches, if only the weight half releases memory. Up to `devices` microbatches run one
/// behind the other in slots that never collide, weight halves in between; up to 2·devices − 2 they are the first ones of the
/// order for 2·devices − 1. Accepts every shape with 2 chunks.
struct zero_bubble_v {
  static constexpr std::string_view name = "zb-v";

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const { return v_refusal(shape); }
  [[nodiscard]] constexpr brim::placement placement(const pipeline_shape& shape) const { return zig_zag(shape); }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    const std::int32_t p = shape.devices;
    const std::int32_t i = device.value;
    if (p > 1 && shape.microbatches <= p) {
      building_block{.forward = {i, 2 * p - 1 - i}, .backward = {4 * p - 1 - i, 2 * p + i}, .period = 2}.order(
          shape, device, out);
      return;
    }
    const std::int32_t count = std::max(shape.microbatches, 2 * p - 1);
    const std::array stages{stage_of(device), stage_index(2 * p - 1 - i)};
    std::array<std::int32_t, 2> forwards{};
    std::array<std::int32_t, 2> inputs{};
    std::array<std::int32_t, 2> weights{};
    const auto forward = [&](std::size_t chunk) {
      const std::int32_t m = forwards[chunk]++;
      if (m < shape.microbatches) out.forward(stages[chunk], microbatch_index(m));
    };
    const auto input = [&](std::size_t chunk) {
      const std::int32_t m = inputs[chunk]++;
      if (m < shape.microbatches) out.backward_input(stages[chunk], microbatch_index(m));
    };
    const auto weight = [&](std::size_t chunk) {
      const std::int32_t m = weights[chunk]++;
      if (m < shape.microbatches) out.backward_weight(stages[chunk], microbatch_index(m));
    };
    const auto backward = [&](std::size_t chunk) { input(chunk), weight(chunk); };
    for (std::int32_t k = 0; k < 2 * (p - i) - 1; ++k) forward(0);
    for (std::int32_t k = 0; k < i; ++k) forward(1), forward(0);
    for (std::int32_t k = 0; k < p - i; ++k) forward(1), backward(1);
    while (forwards[1] < count) {
      if (forwards[0] < count) forward(0);
      backward(0), forward(1), backward(1);
    }
    for (std::int32_t k = 0; k < i; ++k) input(0), input(1);
    for (std::int32_t k = 0; k < p - i; ++k) backward(0);
    while (weights[1] < count) weight(1);
    while (weights[0] < count) weight(0);
  }
};
static_assert(pipeline_scheme<zero_bubble_v>);

}  // namespace brim::schemes
