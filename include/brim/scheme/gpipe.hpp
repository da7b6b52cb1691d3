// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/concepts.hpp>

namespace brim::schemes {

/// All forwards, then all backwards, both in ascending order (Huang et al., arXiv 1811.06965).
///
/// Bubble of a device with equal stages: (devices − 1)(forward + backward). Peak: every microbatch, on all devices.
/// Accepts every shape without chunks.
struct gpipe {
  static constexpr std::string_view name = "gpipe";

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const {
    return shape.chunks == 1 ? "" : "a device holds one stage, so chunks must be 1";
  }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    const stage_index stage = stage_of(device);
    for (std::int32_t m = 0; m < shape.microbatches; ++m) out.forward(stage, microbatch_index(m));
    for (std::int32_t m = 0; m < shape.microbatches; ++m) out.backward(stage, microbatch_index(m));
  }
};
static_assert(pipeline_scheme<gpipe>);

}  // namespace brim::schemes
