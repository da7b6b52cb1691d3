// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_order.hpp>
#include <brim/search/random.hpp>
#include <brim/search/search_state.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace brim::detail {

/// Simulated annealing over the order itself, for schedules of a few hundred actions: moves one action of one device past
/// actions of other kinds, checks memory, and times everything anew.
///
/// The cost is the length plus a small share of the mean length of the devices.
class order_annealing {
 public:
  /// Greatest devices × microbatches for which single moves are worth it.
  static constexpr std::int64_t most_cells = 600;

  order_annealing(search_state& state, std::uint64_t seed)
      : state_(state),
        random_(seed),
        count_(state.problem.count()),
        length_(3 * state.problem.microbatches) {}

  /// Starts from an order that fits and uses that many operations.
  void run(const line_order& start, std::int64_t operations) {
    line_order now = start;
    std::int64_t cost = cost_of(state_.try_order(now));
    const std::int64_t unit = weight * count_ * state_.problem.mean_duration();
    const std::int64_t first = state_.used;
    const std::int64_t last = std::min(state_.budget, first + operations);
    while (!state_.over() && state_.used < last) {
      const auto device = static_cast<std::size_t>(random_.below(count_));
      const std::span<std::uint8_t> row = now.row(device);
      const move done = change(row);
      ++state_.used;
      if (done.from == done.to) continue;
      if (!row_fits(row, state_.problem.devices[device], state_.problem.microbatches)) {
        take_back(row, done);
        continue;
      }
      const ticks length = state_.try_order(now);
      const std::int64_t heat =
          unit * 150 / (1024 + 29 * ((state_.used - first) * 1024 / std::max<std::int64_t>(1, last - first)));
      const std::int64_t changed = length == line_timing::unknown ? 0 : cost_of(length);
      if (length == line_timing::unknown || changed > cost + part_of_heat(heat, random_.waiting() >> 6))
        take_back(row, done);
      else
        cost = changed;
    }
  }

 private:
  static constexpr std::int64_t weight = 32;  ///< of the length, against the mean length of the devices

  struct move {
    std::int32_t from = 0, to = 0;
  };

  [[nodiscard]] std::int64_t cost_of(ticks length) const {
    return weight * count_ * length + state_.timing.sum_of_lengths();
  }

  /// Carries an action past one, two, ... others of another kind, which may stand in runs; those of its own kind it meets are
  /// the same action under another number.
  move change(std::span<std::uint8_t> row) {
    move made{.from = random_.below(length_)};
    made.to = made.from;
    const std::int32_t step = random_.chance(50) ? 1 : -1;
    const std::uint8_t kind = row[static_cast<std::size_t>(made.from)];
    do {
      std::int32_t next = made.to + step;
      while (next >= 0 && next < length_ && row[static_cast<std::size_t>(next)] == kind) next += step;
      if (next < 0 || next >= length_) break;
      made.to = next;
    } while (random_.chance(40));
    carry(row, made);
    return made;
  }
  static void carry(std::span<std::uint8_t> row, move what) {
    const auto at = [&](std::int32_t position) { return row.begin() + position; };
    if (what.from < what.to)
      std::rotate(at(what.from), at(what.from + 1), at(what.to + 1));
    else if (what.to < what.from)
      std::rotate(at(what.to), at(what.from), at(what.from + 1));
  }
  static void take_back(std::span<std::uint8_t> row, move what) { carry(row, {what.to, what.from}); }

  search_state& state_;
  random_numbers random_;
  std::int32_t count_;
  std::int32_t length_;
};

}  // namespace brim::detail
