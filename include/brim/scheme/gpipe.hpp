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
    for (const microbatch_index m : microbatches(shape)) out.forward(stage_of(device), m);
    for (const microbatch_index m : microbatches(shape)) out.backward(stage_of(device), m);
  }
};
static_assert(pipeline_scheme<gpipe>);

}  // namespace brim::schemes
