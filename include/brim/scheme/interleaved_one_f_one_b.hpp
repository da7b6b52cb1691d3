// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/concepts.hpp>

#include <algorithm>

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
    const std::int32_t total = shape.microbatches * shape.chunks;
    const std::int32_t wanted = (shape.chunks - 1) * largest_group(shape) + 2 * (shape.devices - 1 - device.value);
    const std::int32_t warm_up = std::min(total, wanted);
    virtual_microbatch forward(shape);
    virtual_microbatch backward(shape);
    const auto stage = [&](std::int32_t chunk) { return stage_index(chunk * shape.devices + device.value); };
    for (std::int32_t k = 0; k < warm_up + total; ++k) {
      if (k < total) {
        out.forward(stage(forward.chunk), forward.microbatch());
        forward.advance();
      }
      if (k >= warm_up) {
        out.backward(stage(shape.chunks - 1 - backward.chunk), backward.microbatch());
        backward.advance();
      }
    }
  }

 private:
  static constexpr std::int32_t groups(const pipeline_shape& shape) {
    return std::max(1, shape.microbatches / shape.devices);
  }
  static constexpr std::int32_t largest_group(const pipeline_shape& shape) {
    return (shape.microbatches + groups(shape) - 1) / groups(shape);
  }

  /// Walks the (microbatch, chunk) pairs: group by group, chunk by chunk, microbatch by microbatch.
  struct virtual_microbatch {
    pipeline_shape shape;
    std::int32_t group = 0, group_begin = 0, chunk = 0, inside = 0;

    constexpr explicit virtual_microbatch(const pipeline_shape& s) : shape(s) {}
    [[nodiscard]] constexpr microbatch_index microbatch() const { return microbatch_index(group_begin + inside); }
    [[nodiscard]] constexpr std::int32_t group_size() const {
      return shape.microbatches / groups(shape) + (group < shape.microbatches % groups(shape) ? 1 : 0);
    }
    constexpr void advance() {
      if (++inside < group_size()) return;
      inside = 0;
      if (++chunk < shape.chunks) return;
      chunk = 0;
      group_begin += group_size();
      ++group;
    }
  };
};
static_assert(pipeline_scheme<interleaved_one_f_one_b>);

}  // namespace brim::schemes
