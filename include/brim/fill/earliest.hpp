// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// Knows which of `count` clocks shows the earliest time, and the first of equal ones. All start at `never`.
///
/// Complexity: O(log count) to set a clock, O(1) to ask. A tree of winners: each node holds the better of its two children.
class earliest {
 public:
  static constexpr ticks never = longest_schedule;

  explicit earliest(std::size_t count) {
    while (leaves_ < count) leaves_ *= 2;
    times_.assign(leaves_, never);
    winners_.resize(leaves_);
    for (std::size_t node = leaves_ - 1; node > 0; --node) decide(node);
  }

  void set(std::size_t clock, ticks time) {
    times_[clock] = time;
    for (std::size_t node = (leaves_ + clock) / 2; node > 0; node /= 2) decide(node);
  }

  [[nodiscard]] std::size_t first() const { return leaves_ > 1 ? winners_[1] : 0; }
  [[nodiscard]] ticks time() const { return times_[first()]; }

 private:
  [[nodiscard]] std::uint32_t winner(std::size_t node) const {
    return node < leaves_ ? winners_[node] : static_cast<std::uint32_t>(node - leaves_);
  }
  void decide(std::size_t node) {
    const std::uint32_t left = winner(2 * node);
    const std::uint32_t right = winner(2 * node + 1);
    winners_[node] = times_[right] < times_[left] ? right : left;
  }

  std::size_t leaves_ = 1;
  std::vector<ticks> times_;
  std::vector<std::uint32_t> winners_;  ///< by node; the root is 1, the children of n are 2n and 2n + 1
};

}  // namespace brim::detail
