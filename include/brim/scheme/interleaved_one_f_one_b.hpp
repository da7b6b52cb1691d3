// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/chunk_walk.hpp>
#include <brim/scheme/concepts.hpp>
#include <brim/scheme/pair_rule.hpp>

namespace brim::schemes {

/// One forward, one backward in turn over several chunks a device (Narayanan et al., arXiv 2104.04473).
///
/// Microbatches go in groups through all chunks before the next group starts. There are max(1, microbatches div devices)
/// groups, whose sizes differ by at most one: where they are all equal this is the order that Megatron-LM and PyTorch
/// use; where they are not, those refuse the shape.
/// Bubble of a device with equal stages and equal groups: (devices − 1)(forward + backward) of one chunk.
/// Accepts every shape; with one chunk it is `one_f_one_b` with twice the warm-up.
struct interleaved_one_f_one_b {
  static constexpr std::string_view name = "interleaved-1f1b";

  [[nodiscard]] constexpr brim::placement placement(const pipeline_shape& shape) const { return looped(shape); }

  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    const chunk_walk forwards(shape, device, shape.devices, chunk_walk::direction::forward);
    const chunk_walk backwards(shape, device, shape.devices, chunk_walk::direction::backward);
    pair_rule{.warm_up = (shape.chunks - 1) * forwards.largest_group() + 2 * (shape.devices - 1 - device.value)}.order(
        shape.microbatches * shape.chunks, forwards, backwards, out);
  }
};
static_assert(pipeline_scheme<interleaved_one_f_one_b>);

}  // namespace brim::schemes
