// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/model/concepts.hpp>
#include <brim/model/costs.hpp>
#include <brim/schedule/join_halves.hpp>
#include <brim/schedule/memory.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/scheme/scheme.hpp>
#include <brim/search/line_problem.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace brim::detail {

/// The line in which the halves of a backward take no longer than a whole one. A bound for it holds for orders with whole
/// backwards as well: a whole one is its two halves back to back, the first one's result late. Where a whole backward is said to
/// take less than one of its halves, nobody has measured it, and the line stays as it is.
template <cost_model Costs>
[[nodiscard]] line_problem with_cheapest_backwards(const line_problem& problem, const pipeline_shape& shape,
                                                   const Costs& model) {
  line_problem cheapest = problem;
  bool measured = true;
  with_prepared(model, one_stage_a_device(shape), [&](const auto& costs) {
    for (const device_index d : devices(shape)) {
      const action whole{action_kind::backward, side::none,          route_index(0),
                         stage_of(d),           microbatch_index(0), layer_index(-1)};
      line_device& here = cheapest.devices[d.at()];
      const ticks together = costs.duration(whole, d);
      measured = measured && together >= std::max(here.backward_input, here.backward_weight);
      here.backward_input = std::min(here.backward_input, together);
      here.backward_weight = std::min(here.backward_weight, together - here.backward_input);
    }
  });
  return measured ? cheapest : problem;
}

/// The best of what is known for backwards that take longer in halves: the halves that run back to back joined, and the
/// schemes with whole backwards. Complexity: linear.
template <cost_model Costs, memory_model Memory>
class whole_backwards {
 public:
  whole_backwards(const Costs& costs, const Memory& memory, const std::vector<bytes>& limits, length_kind goal)
      : costs_(costs),
        memory_(memory),
        limits_(limits),
        goal_(goal) {}

  [[nodiscard]] timeline shortest(timeline halves) {
    const pipeline_shape step = halves.program.shape;
    best_ = std::move(halves);
    consider(join_halves(best_, costs_));
    consider(simulate(schemes::one_f_one_b{}, step, costs_));
    consider(simulate(schemes::eager_one_f_one_b{}, step, costs_));
    consider(simulate(schemes::gpipe{}, step, costs_));
    return std::move(best_);
  }

 private:
  void consider(timeline other) {
    if (length_of(other, goal_) >= length_of(best_, goal_)) return;
    const std::vector<bytes> peaks = peak_memory(other, memory_);
    for (std::size_t d = 0; d < limits_.size() && d < peaks.size(); ++d)
      if (limits_[d] != 0 && peaks[d] > limits_[d]) return;
    other.program.scheme = best_.program.scheme;
    best_ = std::move(other);
  }

  const Costs& costs_;
  const Memory& memory_;
  const std::vector<bytes>& limits_;
  length_kind goal_;
  timeline best_{};
};

}  // namespace brim::detail
