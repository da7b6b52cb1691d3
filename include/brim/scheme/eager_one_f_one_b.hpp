// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/concepts.hpp>
#include <brim/scheme/pair_rule.hpp>

namespace brim::schemes {

/// 1F1B with up to twice the forwards in flight, so that a transfer each way hides behind a pair (Zhuang et al., arXiv
/// 2211.05322; DAPPLE, arXiv 2007.01045).
///
/// Bubble as 1F1B's, and it stays so with transfers up to half of forward + backward. Peak on device `d`:
/// min(microbatches, 2(devices − d) − 1). Accepts every shape without chunks.
struct eager_one_f_one_b {
  static constexpr std::string_view name = "eager-1f1b";

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const {
    return one_stage_refusal(shape);
  }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    pair_rule{.warm_up = 2 * (shape.devices - 1 - device.value)}.order(shape.microbatches, stage_of(device), out);
  }
};
static_assert(pipeline_scheme<eager_one_f_one_b>);

}  // namespace brim::schemes
