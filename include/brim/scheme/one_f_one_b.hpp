// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/concepts.hpp>

#include <algorithm>

namespace brim::schemes {

/// One forward, one backward in turn, after as many forwards as the pipeline below needs (PipeDream-flush, arXiv
/// 2006.09503; DAPPLE, arXiv 2007.01045).
///
/// Bubble of a device with equal stages: (devices − 1)(forward + backward), as GPipe. Peak on device `d`:
/// min(microbatches, devices − d). Accepts every shape without chunks, also fewer microbatches than devices.
struct one_f_one_b {
  static constexpr std::string_view name = "1f1b";

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const {
    return shape.chunks == 1 ? "" : "a device holds one stage, so chunks must be 1; interleaved-1f1b takes chunks";
  }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    const stage_index stage = stage_of(device);
    const std::int32_t warm_up = std::min(shape.microbatches, shape.devices - 1 - device.value);
    for (std::int32_t m = 0; m < warm_up; ++m) out.forward(stage, microbatch_index(m));
    for (std::int32_t m = warm_up; m < shape.microbatches; ++m) {
      out.forward(stage, microbatch_index(m));
      out.backward(stage, microbatch_index(m - warm_up));
    }
    for (std::int32_t m = shape.microbatches - warm_up; m < shape.microbatches; ++m)
      out.backward(stage, microbatch_index(m));
  }
};
static_assert(pipeline_scheme<one_f_one_b>);

}  // namespace brim::schemes
