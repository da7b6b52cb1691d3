// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_order.hpp>
#include <brim/search/line_problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace brim::detail {

/// Times an order: every action as early as its device and its input allow. Linear, no allocation after construction.
class line_timing {
 public:
  static constexpr ticks unknown = std::numeric_limits<ticks>::max();

  explicit line_timing(const line_problem& problem)
      : problem_(problem),
        count_(problem.devices.size()),
        row_(static_cast<std::size_t>(problem.microbatches)),
        lanes_(count_),
        forwards_(count_ * row_ + 1),
        gradients_(count_ * row_ + 1) {
    std::fill_n(forwards_.begin(), row_, ticks{0});
    for (std::size_t d = 0; d < count_; ++d) origins_.push_back(problem.origin(d));
    queue_.reserve(2 * count_ + 2);
  }

  /// The length of the order, or `unknown` where it cannot finish. Pre: `row_fits` for each row.
  ticks run(const line_order& order) { return run_with<false>(order); }

  /// The same, and remembers when every action starts.
  ticks run_recorded(const line_order& order) {
    starts_.resize(3 * count_ * row_);
    return run_with<true>(order);
  }

  /// After `run_recorded`: the start of the action at a position of a device.
  [[nodiscard]] ticks start_of(std::size_t d, std::size_t position) const { return starts_[d * 3 * row_ + position]; }

  [[nodiscard]] ticks length_of(std::size_t d) const { return lanes_[d].free - origins_[d]; }
  [[nodiscard]] ticks sum_of_lengths() const { return sum_; }

 private:
  struct lane {
    ticks free = 0;
    std::size_t next = 0;
    std::size_t forwards = 0, inputs = 0;
    bool stopped_for_forward = false, stopped_for_gradient = false;
  };

  template <bool Record>
  ticks run_with(const line_order& order) {
    for (lane& here : lanes_) here = {};
    queue_.clear();
    for (std::size_t d = count_; d-- > 0;) queue_.push_back(d);
    while (!queue_.empty()) {
      const std::size_t d = queue_.back();
      queue_.pop_back();
      advance<Record>(d, order.row(d).data());
    }
    ticks longest = 0;
    sum_ = 0;
    for (std::size_t d = 0; d < count_; ++d) {
      if (lanes_[d].next != 3 * row_) return unknown;
      longest = std::max(longest, length_of(d));
      sum_ += length_of(d);
    }
    return longest;
  }

  template <bool Record>
  void advance(std::size_t d, const std::uint8_t* kinds) {
    lane& here = lanes_[d];
    const line_device& costs = problem_.devices[d];
    const bool last = d + 1 == count_;
    for (; here.next < 3 * row_; ++here.next) {
      if (kinds[here.next] == backward_weight_kind) {
        if constexpr (Record) starts_[d * 3 * row_ + here.next] = here.free;
        here.free += costs.backward_weight;
      } else if (kinds[here.next] == forward_kind) {
        if (d > 0 && here.forwards == lanes_[d - 1].forwards) {
          here.stopped_for_forward = true;
          return;
        }
        here.free = std::max(here.free, forwards_[d * row_ + here.forwards]);
        if constexpr (Record) starts_[d * 3 * row_ + here.next] = here.free;
        here.free += costs.forward;
        if (!last) {
          lane& below = lanes_[d + 1];
          forwards_[(d + 1) * row_ + here.forwards] = here.free + costs.hop;
          if (below.stopped_for_forward) {
            below.stopped_for_forward = false;
            queue_.push_back(d + 1);
          }
        }
        ++here.forwards;
      } else {
        if (!last) {
          if (here.inputs == lanes_[d + 1].inputs) {
            here.stopped_for_gradient = true;
            return;
          }
          here.free = std::max(here.free, gradients_[d * row_ + here.inputs]);
        }
        if constexpr (Record) starts_[d * 3 * row_ + here.next] = here.free;
        here.free += costs.backward_input;
        if (d > 0) {
          lane& above = lanes_[d - 1];
          gradients_[(d - 1) * row_ + here.inputs] = here.free + problem_.devices[d - 1].hop;
          if (above.stopped_for_gradient) {
            above.stopped_for_gradient = false;
            queue_.push_back(d - 1);
          }
        }
        ++here.inputs;
      }
    }
  }

  const line_problem& problem_;
  std::size_t count_;
  std::size_t row_;
  std::vector<lane> lanes_;
  std::vector<ticks> forwards_;
  std::vector<ticks> gradients_;
  std::vector<ticks> origins_{};
  std::vector<ticks> starts_{};  ///< of `run_recorded`, device by device
  std::vector<std::size_t> queue_{};
  ticks sum_ = 0;
};

}  // namespace brim::detail
