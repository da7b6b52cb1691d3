// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_policy.hpp>
#include <brim/search/random.hpp>
#include <brim/search/search_state.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace brim::detail {

/// Simulated annealing over the policies of the devices, not over orders: a step of a policy moves an action in every round
/// of the schedule, which single swaps of actions cannot.
///
/// The cost is the length plus a fifth of the mean length of the devices, so that a change that helps a device other than the
/// longest counts too. All numbers are integers. One run of the list scheduler a step, ended as soon as the step is
/// sure to be refused.
class policy_annealing {
 public:
  policy_annealing(search_state& state, std::uint64_t seed)
      : state_(state),
        random_(seed),
        count_(state.problem.count()),
        most_ahead_(std::max(1, std::min(state.problem.microbatches, 4 * count_))) {
    for (std::size_t d = 0; d < state.problem.devices.size(); ++d) work_ += state.problem.work(d);
  }

  /// Starts from a policy and uses that many operations; `cooler` divides the temperature.
  void run(const line_policy& start, std::int64_t operations, std::int64_t cooler = 1) {
    now_ = start;
    settle();
    const std::int64_t first = state_.used;
    const std::int64_t last = std::min(state_.budget, first + operations);
    ticks length = state_.try_policy(now_, list_scheduler::unknown);
    if (length == list_scheduler::unknown) return;
    best_length_ = length;
    best_ = now_;
    std::int64_t cost = cost_of(length);
    const std::int64_t unit = std::int64_t{5} * count_ * state_.problem.mean_duration();
    while (!state_.over() && state_.used < last) {
      next_ = now_;
      change();
      const std::int64_t heat = heat_at(unit / cooler, state_.used - first, last - first);
      const std::int64_t most_cost = cost + part_of_heat(heat, random_.waiting() >> 6);
      const ticks most = (most_cost - work_) / (std::int64_t{5} * count_);
      state_.used += count_;
      length = state_.try_policy(next_, most);
      if (length == list_scheduler::unknown) continue;
      const std::int64_t changed = cost_of(length);
      if (changed > most_cost) continue;
      cost = changed;
      std::swap(now_, next_);
      if (length < best_length_) {
        best_length_ = length;
        best_ = now_;
      }
    }
  }

  /// The best policy of the last run that was accepted, and its length.
  [[nodiscard]] const line_policy& best() const { return best_; }
  [[nodiscard]] ticks best_length() const { return best_length_; }

 private:
  [[nodiscard]] std::int64_t cost_of(ticks length) const {
    return std::int64_t{5} * count_ * length + state_.scheduler.sum_of_lengths();
  }
  /// From a fourteenth of the mean duration down to a tenth of that, as 1 / (1 + 9 x).
  [[nodiscard]] static std::int64_t heat_at(std::int64_t unit, std::int64_t done, std::int64_t all) {
    const std::int64_t share = done * 1024 / std::max<std::int64_t>(1, all);
    return std::max<std::int64_t>(1, unit * 72 / (1024 + 9 * share));
  }
  /// Keeps every number where it has an effect, so that a step is a step.
  void settle() {
    for (policy_row& row : now_.rows) {
      row.cap_before = std::clamp(row.cap_before, 1, most_ahead_);
      row.cap_after = std::clamp(row.cap_after, 1, most_ahead_);
      row.target = std::clamp(row.target, 0, most_ahead_);
      row.hold = std::clamp(row.hold, 0, state_.problem.microbatches);
    }
  }

  void change() {
    const std::int32_t dice = random_.below(100);
    const std::int32_t changes = 1 + (dice < 30 ? 1 : 0) + (dice < 10 ? 1 : 0);
    for (std::int32_t k = 0; k < changes; ++k) change_once();
  }
  void change_once() {
    const std::int32_t what = random_.below(15);
    if (what >= 13) {  // aim elsewhere: 1.3 u² of the way from the bound to the best
      const std::int64_t u = random_.below(1024);
      next_.goal = state_.bound.length + (state_.best_length - state_.bound.length) * (u * u * 13 / 10 / 1024) / 1024;
      return;
    }
    const std::int32_t at = random_.below(count_);
    const std::int32_t reach = random_.below(4);  // this device, or all from it on, or all up to it
    const std::int32_t from = reach == 3 ? 0 : at;
    const std::int32_t to = reach == 2 ? count_ : at + 1;
    const std::int32_t step = (random_.chance(50) ? 1 : -1) * (random_.chance(30) ? 2 : 1);
    const std::int32_t pick = random_.chance(50) ? random_.below(12) : -1;
    for (std::int32_t d = from; d < to; ++d) {
      policy_row& row = next_.rows[static_cast<std::size_t>(d)];
      const auto ahead = [&](std::int32_t& value, std::int32_t least) {
        value = std::clamp(value + step, least, most_ahead_);
      };
      switch (what) {
        case 0: ahead(row.cap_before, 1); break;
        case 1: ahead(row.cap_after, 1); break;
        case 2:
        case 3:
          ahead(row.cap_before, 1);
          ahead(row.cap_after, 1);
          break;
        case 4:
        case 5: ahead(row.target, 0); break;
        case 6:
        case 7: row.hold = std::clamp(row.hold + step, 0, state_.problem.microbatches); break;
        case 8:
        case 9:
        case 10: row.weight_rule = pick >= 0 ? pick : std::clamp(row.weight_rule + step, 0, 11); break;
        case 11: row.forward_rule = pick >= 0 ? std::min(pick, 10) : std::clamp(row.forward_rule + step, 0, 10); break;
        default: row.make_room = pick >= 0 ? pick % 2 : 1 - row.make_room; break;
      }
    }
  }

  search_state& state_;
  random_numbers random_;
  std::int32_t count_;
  std::int32_t most_ahead_;
  std::int64_t work_ = 0;
  line_policy now_{};
  line_policy next_{};
  line_policy best_{};
  ticks best_length_ = list_scheduler::unknown;
};

}  // namespace brim::detail
