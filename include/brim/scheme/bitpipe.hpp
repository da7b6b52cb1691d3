// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/concepts.hpp>
#include <brim/scheme/gems.hpp>
#include <brim/scheme/list_rule.hpp>

namespace brim::schemes {

/// Two opposite V placements at once (BitPipe, arXiv 2410.19367): two copies of the weights and two chunks each.
///
/// A device takes a backward whenever there is one, the oldest first, else the forward of the deepest stage. Bubble with equal
/// stages, forward = backward and microbatches a multiple of `devices`: (devices − 2) / (4·microbatches + devices − 2) of the
/// makespan. Peak: at most `devices` microbatches with forward = backward. Accepts an even number of devices, 2 chunks.
struct bitpipe {
  static constexpr std::string_view name = "bitpipe";

  std::int32_t backward_slots = 1;  ///< forwards that a backward is taken to last, 1 to 8

  [[nodiscard]] constexpr std::string_view refusal(const pipeline_shape& shape) const {
    if (backward_slots < 1 || backward_slots > rule::longest) return "a backward takes as long as 1 to 8 forwards";
    return shape.chunks == 2 ? two_way_refusal(shape) : "each route is a V, so chunks must be 2";
  }
  [[nodiscard]] constexpr brim::placement placement(const pipeline_shape& shape) const {
    return two_way(zig_zag(shape));
  }
  [[nodiscard]] constexpr whole_order prepare(const pipeline_shape& shape) const {
    const brim::placement where = placement(shape);
    return list_rule<rule>(shape, where, {backward_slots, where.stages}).run();
  }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    prepare(shape).order(shape, device, out);
  }

 private:
  struct rule {
    static constexpr backward_form form = backward_form::whole;
    static constexpr std::int32_t longest = 8;

    std::int32_t backward = 1;
    std::int32_t stages = 1;

    [[nodiscard]] constexpr std::int32_t slots(action_kind kind) const {
      return kind == action_kind::forward ? 1 : backward;
    }
    [[nodiscard]] constexpr std::int64_t urgency(action_kind kind, const list_lane& lane,
                                                 std::span<const list_lane>) const {
      if (kind != action_kind::forward) return 2 * std::int64_t{lane.backwards} + lane.route.value;
      return (std::int64_t{stages - lane.stage.value} << 32) + 2 * std::int64_t{lane.forwards} + lane.route.value;
    }
  };
};
static_assert(pipeline_scheme<bitpipe>);

}  // namespace brim::schemes
