// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace brim::detail {

inline constexpr std::uint8_t forward_kind = 0, backward_input_kind = 1, backward_weight_kind = 2;

/// What each device does, in order: one byte an action. The n-th action of a kind is that of microbatch n.
class line_order {
 public:
  line_order() = default;
  line_order(std::size_t devices, std::size_t microbatches) : length_(3 * microbatches), kinds_(devices * length_) {}

  void put(std::size_t device, std::size_t position, std::uint8_t kind) { kinds_[device * length_ + position] = kind; }
  [[nodiscard]] std::span<std::uint8_t> row(std::size_t device) {
    return std::span(kinds_).subspan(device * length_, length_);
  }
  [[nodiscard]] std::span<const std::uint8_t> row(std::size_t device) const {
    return std::span(kinds_).subspan(device * length_, length_);
  }
  [[nodiscard]] bool empty() const { return kinds_.empty(); }
  friend bool operator==(const line_order&, const line_order&) = default;

 private:
  std::size_t length_ = 0;
  std::vector<std::uint8_t> kinds_{};
};

/// Whether a row has each kind once a microbatch, no half before what it needs of its own device, and fits the limit.
[[nodiscard]] inline bool row_fits(std::span<const std::uint8_t> row, const line_device& device,
                                   std::int32_t microbatches) {
  std::int64_t forwards = 0;
  std::int64_t inputs = 0;
  std::int64_t weights = 0;
  for (const std::uint8_t kind : row) {
    if (kind == forward_kind) {
      ++forwards;
      if ((forwards - inputs) * device.taken + (inputs - weights) * device.kept > device.limit) return false;
    } else if (kind == backward_input_kind) {
      if (++inputs > forwards) return false;
    } else if (++weights > inputs) {
      return false;
    }
  }
  return forwards == microbatches && inputs == microbatches && weights == microbatches;
}

[[nodiscard]] inline bool order_fits(const line_order& order, const line_problem& problem) {
  for (std::size_t d = 0; d < problem.devices.size(); ++d)
    if (!row_fits(order.row(d), problem.devices[d], problem.microbatches)) return false;
  return true;
}

}  // namespace brim::detail
