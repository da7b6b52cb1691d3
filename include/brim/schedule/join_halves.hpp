// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/schedule/simulate.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace brim {
namespace detail {

/// When a result that leaves its device is needed: the start of the stage below's `backward_input` (or `backward`) of the same
/// microbatch, less the transfer. `longest_schedule` where nobody waits.
class gradient_deadlines {
 public:
  constexpr explicit gradient_deadlines(const timeline& t)
      : t_(t),
        row_(static_cast<std::size_t>(t.program.shape.microbatches)),
        starts_(static_cast<std::size_t>(t.program.where.stages) * row_, longest_schedule) {
    for (std::size_t i = 0; i < t.times.size(); ++i) {
      const action& a = t.program.actions[i];
      if (a.kind == action_kind::backward || a.kind == action_kind::backward_input)
        starts_[a.stage.at() * row_ + a.microbatch.at()] = t.times[i].start;
    }
  }
  [[nodiscard]] constexpr ticks of(const action& a) const {
    if (a.stage.value == 0) return longest_schedule;
    const stage_index below(a.stage.value - 1);
    const placement& where = t_.program.where;
    const bool travels = where.device_of(a.route, below) != where.device_of(a.route, a.stage);
    return starts_[below.at() * row_ + a.microbatch.at()] - (travels ? t_.transfers[below.at()] : 0);
  }

 private:
  const timeline& t_;
  std::size_t row_;  ///< microbatches
  std::vector<ticks> starts_;
};

/// Whether `second` is the weight half of the backward whose input half is `first`.
[[nodiscard]] constexpr bool are_halves(action first, const action& second) {
  if (first.kind != action_kind::backward_input) return false;
  first.kind = action_kind::backward_weight;
  return first == second;
}

}  // namespace detail

/// Joins the halves of a backward that run back to back into one whole `backward` wherever nobody waits for the first half's
/// result: one launch less for the trainer, and the pass that frameworks have fused.
///
/// No action of the result starts later than before, provided that a whole backward takes no longer than its halves; where it
/// takes longer the pair stays apart. `costs` are those that `t` was simulated with. Complexity: linear.
/// Errors: those of `simulate`.
template <class Costs>
[[nodiscard]] constexpr timeline join_halves(const timeline& t, const Costs& costs) {
  if constexpr (check_cost_model<Costs>()) {
    order joined{
        .scheme = t.program.scheme, .shape = t.program.shape, .where = t.program.where, .actions = {}, .offsets = {0}};
    joined.actions.reserve(t.program.actions.size());
    const detail::gradient_deadlines deadlines(t);
    with_prepared(costs, t.program.where, [&](const auto& prepared) {
      for (const device_index d : devices(t.program.shape)) {
        const std::size_t row_end = t.program.offsets[d.at() + 1];
        for (std::size_t i = t.program.offsets[d.at()]; i < row_end; ++i) {
          action a = t.program.actions[i];
          if (i + 1 < row_end && detail::are_halves(a, t.program.actions[i + 1])) {
            action whole = a;
            whole.kind = action_kind::backward;
            const ticks end = t.times[i].start + prepared.duration(whole, d);
            if (end <= t.times[i + 1].end && end <= deadlines.of(a)) {
              a = whole;
              ++i;
            }
          }
          joined.actions.push_back(a);
        }
        joined.offsets.push_back(joined.actions.size());
      }
    });
    return simulate(std::move(joined), costs);
  }
}

}  // namespace brim
