// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_problem.hpp>
#include <brim/search/line_rules.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// Whether a length leaves every device enough idle time for its two gaps, where gaps are filled by whole actions.
///
/// Before its first backward_input a device runs forwards only. If it must not idle longer than its slack, the first
/// backward_input starts late enough for whole forwards to fill the time, and thereby comes late to the device above, which
/// has to fill a longer gap, and so on. The same holds in mirror image from the last forward to the last backward_input, with
/// other backward_inputs and weight halves to fill. Both are times from a device's own first or last action, so the rule
/// holds for every timing.
class step_bound {
 public:
  step_bound(const line_problem& problem, const line_bounds& rules)
      : problem_(problem),
        rules_(rules),
        count_(problem.devices.size()),
        before_(count_),
        after_(count_) {
    for (std::size_t d = 0; d < count_; ++d) {
      apart_.push_back(problem.most_in_flight(d) < problem.microbatches);
      gap_after_.push_back(rules.gap_after(d));
      ticks most = -1;  // the longest that the rest of a line needs, beside this device's own idle time
      ticks way = 0;
      const line_device& here = problem.devices[d];
      const ticks inside = problem.microbatches * (here.forward + here.backward_input) +
                           (problem.microbatches - rules.most_due(d, 0, problem.microbatches)) * here.backward_weight;
      for (std::size_t j = d; j-- > 0;) {
        const line_device& above = problem.devices[j];
        way += above.forward + above.backward_input + 2 * above.hop;
        most = std::max(most, problem.head(j) - problem.origin(j) + way + inside + above.backward_weight);
      }
      needed_.push_back(std::max(most, problem.head(d) - problem.origin(d) + problem.work(d)));
    }
  }

  /// The shortest length that passes, from `least` on.
  [[nodiscard]] ticks shortest(ticks least) {
    if (passes(least)) return least;
    ticks reach = std::max<ticks>(1, least / 64);
    while (!passes(least + reach)) {
      least += reach;
      reach *= 2;
    }
    ticks below = least;
    ticks most = least + reach;
    while (most - below > 1) {
      const ticks middle = below + (most - below) / 2;
      (passes(middle) ? most : below) = middle;
    }
    return most;
  }

 private:
  [[nodiscard]] bool passes(ticks length) {
    for (std::size_t d = 0; d < count_; ++d) before_[d] = after_[d] = 0;
    for (std::size_t d = 0; d < count_; ++d) after_[d] = gap_after_[d];
    return first_gradients(length) && last_gradients(length) && first_gradients(length);
  }
  /// Idle time left to device `d` for one gap: the other takes its part where both are sure to be apart.
  [[nodiscard]] ticks slack(std::size_t d, ticks length, ticks other) const {
    return length - needed_[d] - (apart_[d] ? other : 0);
  }

  bool first_gradients(ticks length) {
    ticks wait = 0;  // from the first forward of a device to its first backward_input
    for (std::size_t d = count_; d-- > 0;) {
      const line_device& here = problem_.devices[d];
      wait += here.forward;
      if (d + 1 < count_) wait += problem_.devices[d + 1].backward_input + 2 * here.hop;
      const ticks idle = slack(d, length, after_[d]);
      if (idle < 0) return false;
      const std::int64_t most = problem_.most_in_flight(d);
      before_[d] = std::max<ticks>(0, wait - most * here.forward);
      if (wait - idle <= here.forward) continue;  // one is enough
      if (here.forward == 0) return false;
      const std::int64_t forwards = (wait - idle + here.forward - 1) / here.forward;
      if (forwards > most) return false;
      wait = std::max(wait, forwards * here.forward);
    }
    return true;
  }

  bool last_gradients(ticks length) {
    ticks wait = 0;  // from the end of the last forward of a device to the start of its last backward_input
    for (std::size_t d = count_; d-- > 0;) {
      const line_device& here = problem_.devices[d];
      if (d + 1 < count_)
        wait += problem_.devices[d + 1].forward + problem_.devices[d + 1].backward_input + 2 * here.hop;
      const ticks idle = slack(d, length, before_[d]);
      if (idle < 0) return false;
      ticks least = -1;  // the shortest work that fills all but the idle time
      ticks longest = 0;
      const std::int64_t most = problem_.most_in_flight(d);
      for (std::int64_t inputs = 0; inputs < most; ++inputs) {
        const std::int64_t weights =
            inputs + rules_.most_due(d, (inputs + 1) * here.taken, problem_.microbatches - inputs - 1);
        const ticks rest = wait - idle - inputs * here.backward_input;
        longest = std::max(longest, inputs * here.backward_input + weights * here.backward_weight);
        std::int64_t used = 0;
        if (rest > 0) {
          if (here.backward_weight == 0) continue;
          used = (rest + here.backward_weight - 1) / here.backward_weight;
          if (used > weights) continue;
        }
        const ticks work = inputs * here.backward_input + used * here.backward_weight;
        if (least < 0 || work < least) least = work;
      }
      after_[d] = std::max<ticks>(0, wait - longest);
      if (least < 0) return false;
      wait = std::max(wait, least);
    }
    return true;
  }

  const line_problem& problem_;
  const line_bounds& rules_;
  std::size_t count_;
  std::vector<ticks> needed_{};     ///< by device: length without its idle time
  std::vector<bool> apart_{};       ///< by device: whether memory forces the gaps apart
  std::vector<ticks> gap_after_{};  ///< by device: in any schedule
  std::vector<ticks> before_;       ///< by device: least idle time in the gap before its first backward_input
  std::vector<ticks> after_;        ///< by device: and after its last forward
};

}  // namespace brim::detail
