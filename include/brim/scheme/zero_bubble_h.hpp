// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/concepts.hpp>
#include <brim/scheme/pair_rule.hpp>

namespace brim::schemes {

/// Zero bubble with the memory of 1F1B (Qi et al., arXiv 2401.10241): 1F1B whose backwards come in halves, and device `d`
/// holds `d` weight halves back until its cool-down.
///
/// Bubble of the makespan and of the longest span, equal stages and microbatches >= devices, without transfers:
/// (devices − 1)(backward_input + max(forward − backward_weight, 0)). Peak: min(microbatches, devices) microbatches on
/// every device, if only the weight half releases memory. Accepts every shape without chunks.
struct zero_bubble_h1 {
  static constexpr std::string_view name = "zb-h1";

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const {
    return one_stage_refusal(shape);
  }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    pair_rule{.warm_up = shape.devices - 1 - device.value, .form = backward_form::halves, .held_back = device.value}
        .order(shape.microbatches, stage_of(device), out);
  }
};
static_assert(pipeline_scheme<zero_bubble_h1>);

/// Zero bubble with twice the memory of 1F1B (Qi et al., arXiv 2401.10241): enough forwards ahead that no device waits for
/// its first backward.
///
/// Bubble of the longest span, equal stages, microbatches >= 2·devices − 1, without transfers:
/// (devices − 1) max(0, forward + backward_input − 2·backward_weight, backward_input − forward). With a barrier between
/// steps the makespan is what counts, and there it gains little over `zero_bubble_h1`. Peak: min(microbatches,
/// 2·devices − 1) on every device, if only the weight half releases memory. Accepts every shape without chunks.
struct zero_bubble_h2 {
  static constexpr std::string_view name = "zb-h2";

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const {
    return one_stage_refusal(shape);
  }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    pair_rule{
        .warm_up = 2 * (shape.devices - 1 - device.value), .form = backward_form::halves, .held_back = 2 * device.value}
        .order(shape.microbatches, stage_of(device), out);
  }
};
static_assert(pipeline_scheme<zero_bubble_h2>);

}  // namespace brim::schemes
