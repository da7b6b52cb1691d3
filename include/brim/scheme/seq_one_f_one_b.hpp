// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/concepts.hpp>
#include <brim/scheme/pair_rule.hpp>

namespace brim::schemes {

/// 1F1B over slices of the sequence (Seq1F1B, arXiv 2406.03488): causal attention lets the slices of a sequence go forward
/// one after the other, and back in reverse.
///
/// A microbatch of the shape is one slice: microbatch `k` is slice `k mod slices` of sequence `k div slices`, and costs and
/// memory are those of a slice. Bubble with equal slices: (devices − 1)(forward + backward) of one slice. Peak on device
/// `d`: min(microbatches, devices − d − 1 + slices) slices. Accepts microbatches that are a multiple of `slices`, 1 chunk.
struct seq_one_f_one_b {
  static constexpr std::string_view name = "seq-1f1b";

  std::int32_t slices = 2;  ///< of one sequence

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const {
    if (slices < 1 || shape.microbatches % slices != 0)
      return "a microbatch is a slice of a sequence, so microbatches must be a multiple of the slices (2 by default)";
    return one_stage_refusal(shape);
  }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    pair_rule{.warm_up = shape.devices - device.value - 2 + slices}.order(
        shape.microbatches, slice_walk{stage_of(device), slices, 0, 1},
        slice_walk{stage_of(device), slices, slices - 1, -1}, out);
  }

 private:
  struct slice_walk {
    stage_index here;
    std::int32_t slices;
    std::int32_t slice;  ///< the next one
    std::int32_t way;    ///< 1 up, −1 down
    std::int32_t first = 0;

    [[nodiscard]] constexpr stage_index stage() const { return here; }
    [[nodiscard]] constexpr microbatch_index microbatch() const { return microbatch_index(first + slice); }
    constexpr void advance() {
      slice += way;
      if (slice >= 0 && slice < slices) return;
      slice = way > 0 ? 0 : slices - 1;
      first += slices;
    }
  };
};
static_assert(pipeline_scheme<seq_one_f_one_b>);

}  // namespace brim::schemes
