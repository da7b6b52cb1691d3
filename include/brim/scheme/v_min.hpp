// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/building_block.hpp>
#include <brim/scheme/concepts.hpp>

namespace brim::schemes {

/// A V of two chunks with a third of the memory of 1F1B, and about two thirds of its bubble (V-Min of Qi et al., arXiv
/// 2405.15362).
///
/// Peak: 2·⌊(devices + 4) / 3⌋ chunk activations, if only the weight half releases memory. Bubble where forwards and halves
/// of a chunk take one tick each, microbatches >= 3·devices, without transfers: 4·devices − 5 ticks, 4·devices − 7 where 3 divides
/// devices. Where they take different times, each microbatch adds a bubble of its own. Accepts every shape with 2 chunks.
struct v_min {
  static constexpr std::string_view name = "v-min";

  block_form form = block_form::squeezed;

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const { return v_refusal(shape); }
  [[nodiscard]] constexpr brim::placement placement(const pipeline_shape& shape) const { return zig_zag(shape); }
  [[nodiscard]] constexpr building_block block(const pipeline_shape& shape, device_index device) const {
    const std::int32_t p = shape.devices;
    const std::int32_t i = device.value;
    const std::int32_t turn = p % 3 == 0 ? 2 : 0;
    return {.forward = {i, 2 * p - 1 - i}, .backward = {4 * p + turn - 1 - i, 2 * p + turn + i}};
  }
  /// Chunk activations that a device keeps.
  [[nodiscard]] constexpr std::int32_t most(const pipeline_shape& shape) const { return 2 * ((shape.devices + 4) / 3); }
  [[nodiscard]] constexpr whole_order prepare(const pipeline_shape& shape) const { return block_order(*this, shape); }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    prepare(shape).order(shape, device, out);
  }
};
static_assert(pipeline_scheme<v_min>);

}  // namespace brim::schemes
