// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace brim::detail {

/// When each device looks round next, and which of them is first: a tree of minima over keys (time, device).
/// Times may be at most 2^62 / (devices rounded up to a power of two). O(1) to read, O(log devices) to change.
class wake_tree {
 public:
  explicit wake_tree(std::size_t devices)
      : leaves_(std::bit_ceil(devices)),
        bits_(std::countr_zero(leaves_)),
        keys_(2 * leaves_, never) {}

  void clear() { std::fill(keys_.begin(), keys_.end(), never); }
  [[nodiscard]] bool empty() const { return keys_[1] == never; }
  [[nodiscard]] std::size_t next_device() const { return static_cast<std::size_t>(keys_[1]) & (leaves_ - 1); }
  [[nodiscard]] ticks next_time() const { return keys_[1] >> bits_; }

  /// Wakes the device at that time instead of the one before; the greatest number of ticks means never.
  void set(std::size_t device, ticks time) {
    put(device, time == never ? never : (time << bits_) | static_cast<std::int64_t>(device));
  }
  /// Wakes the device at that time, unless it wakes earlier anyway.
  void lower(std::size_t device, ticks time) {
    const std::int64_t key = (time << bits_) | static_cast<std::int64_t>(device);
    if (key < keys_[leaves_ + device]) put(device, key);
  }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  void put(std::size_t device, std::int64_t key) {
    std::size_t at = leaves_ + device;
    keys_[at] = key;
    for (at /= 2; at > 0; at /= 2) {
      const std::int64_t least = std::min(keys_[2 * at], keys_[2 * at + 1]);
      if (keys_[at] == least) break;
      keys_[at] = least;
    }
  }

  std::size_t leaves_;
  int bits_;
  std::vector<std::int64_t> keys_;
};

}  // namespace brim::detail
