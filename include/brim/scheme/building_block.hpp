// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/list_rule.hpp>

#include <array>
#include <utility>
#include <vector>

namespace brim::schemes {

/// The slots in which a device of a V placement runs the first microbatch: one action a slot, each microbatch `period` slots
/// after the one before it. Weight halves take the free slots, the oldest first (Qi et al., arXiv 2405.15362).
struct building_block {
  std::array<std::int32_t, 2> forward{};   ///< of the chunk on the way down and of the one on the way up
  std::array<std::int32_t, 2> backward{};  ///< input halves
  std::int32_t period = 6;

  /// Everything in its slot. Complexity: linear.
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    const std::array stages{stage_of(device), stage_index(2 * shape.devices - 1 - device.value)};
    const std::array firsts{forward[0], forward[1], backward[0], backward[1]};
    std::array<std::int32_t, 4> done{};
    std::array<std::int32_t, 2> weights{};
    const auto slot_of = [&](std::size_t i, std::int32_t microbatch) { return firsts[i] + period * microbatch; };
    const auto weight = [&] {
      const bool up =
          weights[0] >= done[2] || (weights[1] < done[3] && slot_of(3, weights[1]) < slot_of(2, weights[0]));
      out.backward_weight(stages[up ? 1 : 0], microbatch_index(weights[up ? 1 : 0]++));
    };
    std::int32_t waiting = 0;
    std::int32_t slot = 0;
    for (std::int32_t left = 4 * shape.microbatches; left > 0; --left) {
      std::size_t next = 4;
      for (std::size_t i = 0; i < 4; ++i)
        if (done[i] < shape.microbatches && (next == 4 || slot_of(i, done[i]) < slot_of(next, done[next]))) next = i;
      for (; waiting > 0 && slot < slot_of(next, done[next]); ++slot, --waiting) weight();
      slot = slot_of(next, done[next]) + 1;
      const microbatch_index microbatch(done[next]++);
      if (next < 2) {
        out.forward(stages[next], microbatch);
      } else {
        out.backward_input(stages[next - 2], microbatch);
        ++waiting;
      }
    }
    while (waiting-- > 0) weight();
  }
};

/// How a building block becomes an order.
enum class block_form : std::uint8_t {
  squeezed,  ///< nothing waits for its slot, and the memory of the block is used from the first microbatch to the last
  stamped,   ///< everything in the order of its slots
};

/// Urgency by the slots of building blocks, within a number of chunk activations that a device keeps. An earlier chunk never
/// fills the device, so the oldest microbatch always finds room; a forward never overtakes an older backward of its chunk. Weight
/// halves are last when the first chunk's forwards are over.
struct block_rule {
  struct part {
    building_block block{};
    std::array<std::int32_t, 2> weight{};  ///< slots of the first microbatch's weight halves
    std::int32_t first_chunk = 1;          ///< activations of the first chunk that the block keeps
  };
  static constexpr backward_form form = backward_form::halves;
  static constexpr std::int32_t longest = 1;

  std::int32_t devices = 1;
  std::int32_t microbatches = 1;
  std::int32_t most = 2;  ///< chunk activations on each device
  std::vector<part> parts{};

  [[nodiscard]] static constexpr part part_of(const building_block& b) {
    const auto next_free = [&](std::int32_t slot) {
      const auto taken = [&](std::int32_t other) { return (slot - other) % b.period == 0; };
      do ++slot;
      while (taken(b.forward[0]) || taken(b.forward[1]) || taken(b.backward[0]) || taken(b.backward[1]));
      return slot;
    };
    part made{.block = b, .weight = {next_free(b.backward[0]), next_free(b.backward[1])}};
    if ((made.weight[0] - made.weight[1]) % b.period == 0) made.weight[0] = next_free(made.weight[0]);
    made.first_chunk = (made.weight[0] - b.forward[0] + b.period) / b.period;
    return made;
  }

  [[nodiscard]] constexpr std::int32_t slots(action_kind) const { return 1; }
  [[nodiscard]] constexpr std::int64_t urgency(action_kind kind, const list_lane& lane,
                                               std::span<const list_lane> own) const {
    const bool up = lane.stage.value >= devices;
    const part& here = parts[static_cast<std::size_t>(up ? 2 * devices - 1 - lane.stage.value : lane.stage.value)];
    const auto slot_of = [&](const std::array<std::int32_t, 2>& first, std::int32_t microbatch) {
      return std::int64_t{first[up ? 1 : 0]} + std::int64_t{here.block.period} * microbatch;
    };
    if (kind == action_kind::backward_input) return slot_of(here.block.backward, lane.backwards);
    if (kind == action_kind::backward_weight) {
      if (own[0].forwards < microbatches) return slot_of(here.weight, lane.weights);
      return (std::int64_t{up ? 1 : 2} << 40) + lane.weights;
    }
    const std::int32_t down_kept = own[0].forwards - own[0].weights;
    if (down_kept + own[1].forwards - own[1].weights >= most || (!up && down_kept >= here.first_chunk)) return -1;
    const std::int64_t slot = slot_of(here.block.forward, lane.forwards);
    return lane.backwards == lane.gradients && slot_of(here.block.backward, lane.backwards) < slot ? -1 : slot;
  }
};

/// Why a scheme on a V refuses a shape.
[[nodiscard]] constexpr std::string_view v_refusal(const pipeline_shape& shape) {
  return shape.chunks == 2 ? ""
                           : "each device holds a stage on the way down and one on the way up, so chunks must be 2";
}

/// The order of a scheme with `block(shape, device)`, `most(shape)` and a `form`. Complexity: linear.
template <class Scheme>
[[nodiscard]] constexpr whole_order block_order(const Scheme& scheme, const pipeline_shape& shape) {
  if (scheme.form == block_form::stamped) {
    whole_order made{.rows = std::vector<std::vector<action>>(static_cast<std::size_t>(shape.devices))};
    for (const device_index d : devices(shape)) {
      order_sink row(made.rows[d.at()]);
      scheme.block(shape, d).order(shape, d, row);
    }
    return made;
  }
  block_rule rule{.devices = shape.devices, .microbatches = shape.microbatches, .most = scheme.most(shape)};
  for (const device_index d : devices(shape)) rule.parts.push_back(block_rule::part_of(scheme.block(shape, d)));
  const placement where = zig_zag(shape);
  return list_rule<block_rule>(shape, where, std::move(rule)).run();
}

}  // namespace brim::schemes
