// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/building_block.hpp>
#include <brim/scheme/concepts.hpp>

namespace brim::schemes {

/// A V of two chunks with half the memory of 1F1B, and about half its bubble (V-Half of Qi et al., arXiv 2405.15362).
///
/// Peak: devices + 2 chunk activations, devices + 1 where devices are odd, if only the weight half releases memory. Bubble
/// where forwards and halves of a chunk take one tick each, microbatches >= 3·devices, without transfers: 3·devices − 7 ticks,
/// 3·devices − 4 where odd, never below 0: no schedule with this peak has a smaller one. Accepts every shape with 2 chunks.
struct v_half {
  static constexpr std::string_view name = "v-half";

  block_form form = block_form::squeezed;

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const { return v_refusal(shape); }
  [[nodiscard]] constexpr brim::placement placement(const pipeline_shape& shape) const { return zig_zag(shape); }
  [[nodiscard]] constexpr building_block block(const pipeline_shape& shape, device_index device) const {
    const std::int32_t p = shape.devices;
    const std::int32_t i = device.value;
    const std::int32_t turn = p % 2 == 0 ? 3 : 0;
    return {.forward = {2 * i, 3 * p - 2 - i}, .backward = {6 * p - 2 + turn - i, 3 * p - 1 + turn + 2 * i}};
  }
  /// Chunk activations that a device keeps.
  [[nodiscard]] constexpr std::int32_t most(const pipeline_shape& shape) const { return 2 * (shape.devices / 2 + 1); }
  [[nodiscard]] constexpr whole_order prepare(const pipeline_shape& shape) const { return block_order(*this, shape); }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    prepare(shape).order(shape, device, out);
  }
};
static_assert(pipeline_scheme<v_half>);

}  // namespace brim::schemes
