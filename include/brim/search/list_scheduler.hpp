// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/config.hpp>
#include <brim/search/line_order.hpp>
#include <brim/search/line_policy.hpp>
#include <brim/search/line_problem.hpp>
#include <brim/search/wake_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace brim::detail {

/// Makes a schedule action by action, in order of time: whenever a device is free, its policy looks at what has arrived and
/// at what is known to arrive, and starts an action or waits for the next arrival. An arrival is known as soon as the action
/// that causes it has started.
///
/// Complexity: O(actions × log devices), no allocation after construction.
class list_scheduler {
 public:
  static constexpr ticks unknown = std::numeric_limits<ticks>::max();

  explicit list_scheduler(const line_problem& problem)
      : problem_(problem),
        count_(problem.devices.size()),
        row_(static_cast<std::size_t>(problem.microbatches)),
        m_(problem.microbatches),
        wakes_(count_),
        lanes_(count_),
        forwards_(count_ * row_ + 1),
        gradients_(count_ * row_ + 1),
        order_(count_, row_) {
    ticks above = 0;
    for (std::size_t d = 0; d < count_; ++d) {
      const line_device& here = problem.devices[d];
      fixed_.push_back({problem.origin(d), problem.work(d), above + problem.devices[0].backward_weight});
      above += here.backward_input + here.hop;
    }
    std::fill_n(forwards_.begin(), row_, ticks{0});  // the first device waits for nobody
  }

  /// The length of the policy's schedule, or `unknown` as soon as that is sure to exceed `most`. What was scheduled stands in
  /// `order()` and `lengths()`. Actions started are added to `operations`.
  ticks run(const line_policy& policy, ticks most, std::int64_t& operations) {
    reset();
    std::int64_t left = 3 * static_cast<std::int64_t>(count_ * row_);
    const std::int64_t all = left;
    while (!wakes_.empty()) {
      const std::size_t d = wakes_.next_device();
      const ticks now = wakes_.next_time();
      lane& here = lanes_[d];
      if (here.free + 0 > now) {  // its action is still running
        wakes_.set(d, here.free);
        continue;
      }
      const decision what = decide(d, now, policy.rows[d], policy.goal);
      if (what.kind == nothing) {
        here.waits = true;
        wakes_.set(d, what.until);
        continue;
      }
      here.waits = false;
      here.idle += now - here.free;
      if (here.idle + fixed_[d].work > most) {
        operations += all - left;
        return unknown;
      }
      start(d, now, what.kind);
      --left;
    }
    operations += all - left;
    if (left != 0) return unknown;
    ticks longest = 0;
    for (std::size_t d = 0; d < count_; ++d) longest = std::max(longest, length_of(d));
    return longest;
  }

  [[nodiscard]] const line_order& order() const { return order_; }
  [[nodiscard]] ticks length_of(std::size_t d) const { return lanes_[d].idle + fixed_[d].work; }
  [[nodiscard]] ticks sum_of_lengths() const {
    ticks sum = 0;
    for (std::size_t d = 0; d < count_; ++d) sum += length_of(d);
    return sum;
  }

 private:
  static constexpr std::uint8_t nothing = 3;

  struct lane {
    ticks free = 0;  ///< end of the last action; the origin before the first
    ticks idle = 0;  ///< since the origin, up to `free`
    bytes used = 0;
    std::int32_t forwards = 0, inputs = 0, weights = 0;  ///< started
    bool waits = true;
  };
  struct constants {
    ticks origin = 0, work = 0;
    ticks way_out = 0;  ///< backward_inputs of the devices before, and the last backward_weight of the first
  };
  struct decision {
    std::uint8_t kind = nothing;
    ticks until = unknown;
  };

  void reset() {
    wakes_.clear();
    for (std::size_t d = 0; d < count_; ++d) lanes_[d] = {.free = fixed_[d].origin};
    wakes_.set(0, 0);
    lanes_[0].free = 0;
  }

  /// When the next forward or gradient of a device arrives, as far as that is known.
  [[nodiscard]] ticks next_forward(std::size_t d, const lane& here) const {
    if (here.forwards == m_ || (d > 0 && here.forwards == lanes_[d - 1].forwards)) return unknown;
    return forwards_[d * row_ + static_cast<std::size_t>(here.forwards)];
  }
  [[nodiscard]] ticks next_gradient(std::size_t d, const lane& here) const {
    if (d + 1 == count_) return here.inputs < here.forwards ? ticks{0} : unknown;
    if (here.inputs == lanes_[d + 1].inputs) return unknown;
    return gradients_[d * row_ + static_cast<std::size_t>(here.inputs)];
  }

  [[nodiscard]] decision decide(std::size_t d, ticks now, const policy_row& rule, ticks goal) const {
    const lane& here = lanes_[d];
    const line_device& costs = problem_.devices[d];
    const ticks arrival = next_forward(d, here);
    const ticks gradient = next_gradient(d, here);
    const bool weight_ready = here.weights < here.inputs;
    const std::int32_t ahead = here.forwards - here.inputs;
    const bool allowed = ahead < (here.inputs == 0 ? rule.cap_before : rule.cap_after);
    const bool room = here.used + costs.taken <= costs.limit;
    const ticks forward = allowed && room ? arrival : unknown;
    const bool forward_ready = forward <= now;
    const bool gradient_ready = gradient <= now;
    if (weight_ready && here.inputs - here.weights > rule.hold) return {backward_weight_kind};
    if (gradient_ready) return {forward_ready && ahead < rule.target ? forward_kind : backward_input_kind};
    if (forward_ready) {
      const ticks gap = gradient - now;
      if (gap >= costs.forward || !forward_waits(d, here, now, gap, rule, costs, goal)) return {forward_kind};
      if (weight_ready && costs.backward_weight <= gap) return {backward_weight_kind};
      return {nothing, gradient};
    }
    const ticks next = std::min(forward, gradient);
    if (weight_ready) {
      const bool blocked = rule.make_room != 0 && allowed && !room && arrival <= now;
      const ticks gap = next - now;
      if (next == unknown || blocked || gap >= costs.backward_weight ||
          !weight_waits(d, here, now, gap, rule, costs, goal))
        return {backward_weight_kind};
    }
    return {nothing, next};
  }

  [[nodiscard]] bool in_budget(std::size_t d, const lane& here, ticks now, ticks gap, ticks goal) const {
    return here.idle + (now - here.free) + gap <= goal - fixed_[d].work;
  }
  [[nodiscard]] bool forward_waits(std::size_t d, const lane& here, ticks now, ticks gap, const policy_row& rule,
                                   const line_device& costs, ticks goal) const {
    if (rule.forward_rule == 0) return false;
    if (rule.forward_rule == forward_budget) return in_budget(d, here, now, gap, goal);
    return 8 * gap < (9 - rule.forward_rule) * costs.forward;
  }
  [[nodiscard]] bool weight_waits(std::size_t d, const lane& here, ticks now, ticks gap, const policy_row& rule,
                                  const line_device& costs, ticks goal) const {
    if (rule.weight_rule < policy_row::budget) return 8 * gap < rule.weight_rule * costs.backward_weight;
    if (rule.weight_rule != policy_row::deadline && in_budget(d, here, now, gap, goal)) return true;
    if (rule.weight_rule == policy_row::budget) return false;
    const ticks rest = (m_ - here.forwards) * costs.forward + (m_ - here.inputs) * costs.backward_input;
    return now + costs.backward_weight + rest > goal - fixed_[d].way_out;
  }

  void start(std::size_t d, ticks now, std::uint8_t kind) {
    lane& here = lanes_[d];
    const line_device& costs = problem_.devices[d];
    order_.put(d,
               static_cast<std::size_t>(here.forwards) + static_cast<std::size_t>(here.inputs) +
                   static_cast<std::size_t>(here.weights),
               kind);
    if (kind == forward_kind) {
      here.free = now + costs.forward;
      here.used += costs.taken;
      if (d + 1 < count_) deliver(forwards_, d + 1, here.forwards, here.free + costs.hop);
      ++here.forwards;
    } else if (kind == backward_input_kind) {
      here.free = now + costs.backward_input;
      here.used += costs.kept - costs.taken;
      if (d > 0) deliver(gradients_, d - 1, here.inputs, here.free + problem_.devices[d - 1].hop);
      ++here.inputs;
    } else {
      here.free = now + costs.backward_weight;
      here.used -= costs.kept;
      ++here.weights;
    }
    wakes_.set(d, here.free);
  }

  /// Tells a device when a result of its neighbour arrives; wakes it then if it waits.
  void deliver(std::vector<ticks>& arrivals, std::size_t to, std::int32_t microbatch, ticks arrival) {
    arrivals[to * row_ + static_cast<std::size_t>(microbatch)] = arrival;
    if (lanes_[to].waits) wakes_.lower(to, arrival);
  }

  const line_problem& problem_;
  std::size_t count_;
  std::size_t row_;
  std::int32_t m_;
  wake_tree wakes_;
  std::vector<lane> lanes_;
  std::vector<constants> fixed_{};
  std::vector<ticks> forwards_;   ///< when the forwards of a device may start, device by device
  std::vector<ticks> gradients_;  ///< and its backward_inputs
  line_order order_;
};

}  // namespace brim::detail
