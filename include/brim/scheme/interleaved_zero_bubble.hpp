// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/chunk_walk.hpp>
#include <brim/scheme/concepts.hpp>
#include <brim/scheme/pair_rule.hpp>

namespace brim::schemes {

/// Interleaved 1F1B with backwards in halves, as in `torch.distributed.pipelining`: device `d` holds `d` weight halves back.
///
/// Bubble with equal stages and equal groups, without transfers: (devices − 1)(backward_input + max(forward −
/// backward_weight, 0)) of one chunk. Peak: `devices` microbatches on every device, if only the weight half releases
/// memory. Groups are those of `interleaved_one_f_one_b`. Accepts every shape; with one chunk it is `zero_bubble_h1`.
struct interleaved_zero_bubble {
  static constexpr std::string_view name = "interleaved-zb";

  [[nodiscard]] constexpr brim::placement placement(const pipeline_shape& shape) const { return looped(shape); }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    const chunk_walk forwards(shape, device, shape.devices, chunk_walk::direction::forward);
    const chunk_walk backwards(shape, device, shape.devices, chunk_walk::direction::backward);
    pair_rule{.warm_up = (shape.chunks - 1) * forwards.largest_group() + shape.devices - 1 - device.value,
              .form = backward_form::halves,
              .held_back = device.value}
        .order(shape.microbatches * shape.chunks, forwards, backwards, out);
  }
};
static_assert(pipeline_scheme<interleaved_zero_bubble>);

/// Interleaved 1F1B with small groups and a short warm-up (GIS and GIS-H of PipeOffload, arXiv 2503.01328): each weight half
/// follows its input half at once.
///
/// Peak on device `d` in stages of one microbatch: largest group·(chunks − 1) + devices − d. With groups of `devices` the bubble
/// is (devices − 1)(forward + backward_input) of one chunk; smaller groups keep less and wait more. Accepts every shape, with
/// groups of at least half the devices, the default; smaller ones could deadlock.
struct grouped_interleave {
  static constexpr std::string_view name = "grouped-interleave";

  std::int32_t group =
      0;  ///< microbatches that go through a chunk before the next one's turn; 0: half the devices, rounded up

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const {
    if (shape.chunks == 1 || group == 0 || group >= (shape.devices + 1) / 2) return "";
    return "a group of less than half the devices would wait for itself";
  }
  [[nodiscard]] constexpr brim::placement placement(const pipeline_shape& shape) const { return looped(shape); }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    const std::int32_t size = group > 0 ? group : (shape.devices + 1) / 2;
    const chunk_walk forwards(shape, device, size, chunk_walk::direction::forward);
    const chunk_walk backwards(shape, device, size, chunk_walk::direction::backward);
    pair_rule{.warm_up = (shape.chunks - 1) * forwards.largest_group() + shape.devices - 1 - device.value,
              .form = backward_form::halves}
        .order(shape.microbatches * shape.chunks, forwards, backwards, out);
  }
};
static_assert(pipeline_scheme<grouped_interleave>);

}  // namespace brim::schemes
