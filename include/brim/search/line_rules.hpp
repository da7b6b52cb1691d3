// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// What bounds one device, taken from its first start; the makespan adds its head.
class line_bounds {
 public:
  constexpr explicit line_bounds(const line_problem& problem) : problem_(problem), m_(problem.microbatches) {
    for (std::size_t d = 0; d < problem.devices.size(); ++d) gaps_.push_back(gaps_of(d));
  }

  /// Backward_weights that may still be due: each keeps memory.
  [[nodiscard]] constexpr std::int64_t most_due(std::size_t d, bytes used, std::int64_t most) const {
    const line_device& here = problem_.devices[d];
    return here.kept <= 0 ? most : std::min(most, (here.limit - used) / here.kept);
  }
  /// The first microbatch is away for a round trip, and memory lets only so many forwards start in the meantime.
  [[nodiscard]] constexpr ticks gap_before(std::size_t d) const {
    const line_device& here = problem_.devices[d];
    return std::max<ticks>(0, here.forward + problem_.round_trip(d) - problem_.most_in_flight(d) * here.forward);
  }
  /// The last microbatch is away for a round trip. With `x` in flight after the last forward there are x − 1 other
  /// backward_inputs to fill it, their weight halves, and the weight halves for which memory was left.
  [[nodiscard]] constexpr ticks gap_after(std::size_t d) const {
    const line_device& here = problem_.devices[d];
    ticks most = 0;
    for (std::int64_t x = 1; x <= problem_.most_in_flight(d); ++x) {
      const std::int64_t due = most_due(d, x * here.taken, m_ - x);
      most = std::max(most, (x - 1) * here.backward_input + (x - 1 + due) * here.backward_weight);
    }
    return std::max<ticks>(0, problem_.round_trip(d) - most);
  }
  /// Both gaps are apart where memory forces a backward_input before the last forward.
  [[nodiscard]] constexpr ticks gaps(std::size_t d) const { return gaps_[d]; }
  [[nodiscard]] constexpr ticks ends(std::size_t d) const { return problem_.work(d) + gaps(d); }

  [[nodiscard]] constexpr ticks path(std::size_t d) const {
    ticks slowest = 0;
    for (std::size_t k = d; k < problem_.devices.size(); ++k)
      slowest = std::max({slowest, problem_.devices[k].forward, problem_.devices[k].backward_input});
    return problem_.devices[d].each() + problem_.round_trip(d) + (m_ - 1) * slowest;
  }
  /// Through the devices below: each must do all forwards and backward_inputs, and the weight halves for which memory has
  /// no room, before the last gradient can come back up.
  [[nodiscard]] constexpr ticks tail(std::size_t d, std::size_t& through) const {
    ticks way = 0;
    ticks longest = 0;
    through = d;
    for (std::size_t i = d + 1; i < problem_.devices.size(); ++i) {
      const line_device& above = problem_.devices[i - 1];
      const line_device& here = problem_.devices[i];
      way += above.forward + above.backward_input + 2 * above.hop;
      const ticks length =
          way + m_ * (here.forward + here.backward_input) + (m_ - most_due(i, 0, m_)) * here.backward_weight + gaps(i);
      if (length > longest) through = i;
      longest = std::max(longest, length);
    }
    return longest + problem_.devices[d].backward_weight;
  }
  /// Forward n + K cannot start before backward_input n has ended and enough has been given back after it.
  [[nodiscard]] constexpr ticks memory(std::size_t d) const {
    const line_device& here = problem_.devices[d];
    const std::int64_t fit = problem_.most_in_flight(d);
    const ticks held = here.forward + problem_.round_trip(d);
    const std::int64_t rounds = (m_ - 1) / fit;
    const std::int64_t rest = (m_ - 1) % fit;
    const ticks round = rounds == 0 ? 0 : held + release(d);
    return rounds * round + rest * here.forward + held + here.backward_input + here.backward_weight;
  }

 private:
  /// The shortest work, from the start of backward_input n, after which forward n + K fits.
  [[nodiscard]] constexpr ticks release(std::size_t d) const {
    const line_device& here = problem_.devices[d];
    const std::int64_t fit = problem_.most_in_flight(d);
    ticks best = -1;
    for (std::int64_t more = 0; more < fit; ++more)  // further backward_inputs
      for (std::int64_t weights = 0; weights <= 1 + more; ++weights) {
        const ticks work = (1 + more) * here.backward_input + weights * here.backward_weight;
        if (best >= 0 && work >= best) break;
        if ((fit - more) * here.taken + (1 + more - weights) * here.kept <= here.limit) best = work;
      }
    return best < 0 ? here.backward_input : best;
  }

  [[nodiscard]] constexpr ticks gaps_of(std::size_t d) const {
    const ticks before = gap_before(d);
    const ticks after = gap_after(d);
    return problem_.most_in_flight(d) < m_ ? before + after : std::max(before, after);
  }

  const line_problem& problem_;
  std::int64_t m_;
  std::vector<ticks> gaps_{};  ///< by device
};

}  // namespace brim::detail
