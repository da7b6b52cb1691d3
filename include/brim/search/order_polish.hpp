// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_order.hpp>
#include <brim/search/search_state.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace brim::detail {

/// Descent on an order of any size: walks back the critical path of a longest device and moves an action that delays it behind
/// the action that it delays, or on to the next gap of its device; keeps what shortens the step, or the devices' sum of
/// lengths at the same length. Every try is a timing of the whole order.
class order_polish {
 public:
  explicit order_polish(search_state& state)
      : state_(state),
        count_(state.problem.devices.size()),
        length_(3 * static_cast<std::size_t>(state.problem.microbatches)) {}

  /// Starts from an order that fits and ends where no move helps, or after that many operations.
  void run(const line_order& start, std::int64_t operations) {
    now_ = start;
    const std::int64_t last = std::min(state_.budget, state_.used + operations);
    cost_ = cost_of(state_.try_order(now_));
    for (bool better = true; better && !state_.over() && state_.used < last;) {
      better = false;
      find_moves();
      for (const move& m : moves_) {
        if (state_.over() || state_.used >= last) break;
        if (helps(m)) {
          better = true;
          break;
        }
      }
    }
  }

 private:
  struct move {
    std::size_t device = 0, from = 0, to = 0;
  };

  [[nodiscard]] std::int64_t cost_of(ticks length) const {
    return 32 * static_cast<std::int64_t>(count_) * length + state_.timing.sum_of_lengths();
  }
  [[nodiscard]] static ticks duration_of(const line_device& costs, std::uint8_t kind) {
    return kind == forward_kind          ? costs.forward
           : kind == backward_input_kind ? costs.backward_input
                                         : costs.backward_weight;
  }
  [[nodiscard]] ticks end_of(std::size_t d, std::size_t position) const {
    return state_.timing.start_of(d, position) + duration_of(state_.problem.devices[d], now_.row(d)[position]);
  }

  /// The moves along the critical path, from its end.
  void find_moves() {
    moves_.clear();
    state_.used += state_.count_timing();
    state_.timing.run_recorded(now_);
    std::size_t d = 0;
    for (std::size_t k = 1; k < count_; ++k)
      if (state_.timing.length_of(k) > state_.timing.length_of(d)) d = k;
    std::size_t at = length_ - 1;
    while (true) {
      const std::uint8_t kind = now_.row(d)[at];
      if (at > 0 && end_of(d, at - 1) == state_.timing.start_of(d, at)) {
        const std::uint8_t before = now_.row(d)[at - 1];
        if (before != kind && kind != backward_weight_kind) {
          moves_.push_back({d, at - 1, at});
          const std::size_t gap = next_gap(d, at);
          if (before == backward_weight_kind && gap > at) moves_.push_back({d, at - 1, gap});
        }
        --at;
        continue;
      }
      if (at == 0 && d == 0) return;
      const auto same = [&](std::size_t upto) {
        return std::count(now_.row(d).begin(), now_.row(d).begin() + static_cast<std::ptrdiff_t>(upto), kind);
      };
      const std::ptrdiff_t number = same(at);
      if (kind == forward_kind && d > 0)
        --d;
      else if (kind == backward_input_kind && d + 1 < count_)
        ++d;
      else
        return;
      at = position_of(d, kind, number);
    }
  }
  /// The last position from `at` on before the device idles.
  [[nodiscard]] std::size_t next_gap(std::size_t d, std::size_t at) const {
    while (at + 1 < length_ && end_of(d, at) == state_.timing.start_of(d, at + 1)) ++at;
    return at;
  }
  [[nodiscard]] std::size_t position_of(std::size_t d, std::uint8_t kind, std::ptrdiff_t number) const {
    const auto row = now_.row(d);
    for (std::size_t k = 0; k < length_; ++k)
      if (row[k] == kind && number-- == 0) return k;
    return 0;
  }

  /// Makes the move; takes it back unless the order is better for it.
  bool helps(const move& m) {
    const std::span<std::uint8_t> row = now_.row(m.device);
    const auto at = [&](std::size_t position) { return row.begin() + static_cast<std::ptrdiff_t>(position); };
    std::rotate(at(m.from), at(m.from + 1), at(m.to + 1));
    if (row_fits(row, state_.problem.devices[m.device], state_.problem.microbatches)) {
      const ticks length = state_.try_order(now_);
      if (length != line_timing::unknown && cost_of(length) < cost_) {
        cost_ = cost_of(length);
        return true;
      }
    }
    std::rotate(at(m.from), at(m.to), at(m.to + 1));
    return false;
  }

  search_state& state_;
  std::size_t count_;
  std::size_t length_;
  std::int64_t cost_ = 0;
  line_order now_{};
  std::vector<move> moves_{};
};

}  // namespace brim::detail
