// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/concepts.hpp>
#include <brim/scheme/pair_rule.hpp>

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
    pair_rule{.warm_up = shape.devices - 1 - device.value}.order(shape.microbatches, stage_of(device), out);
  }
};
static_assert(pipeline_scheme<one_f_one_b>);

}  // namespace brim::schemes
