// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/text.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/schedule/timeline.hpp>
#include <brim/search/line_bound.hpp>
#include <brim/search/line_problem.hpp>
#include <brim/search/line_timeline.hpp>
#include <brim/search/memory_ladder.hpp>
#include <brim/search/search_state.hpp>
#include <brim/search/whole_backwards.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace brim {

/// What to search for, and for how long.
struct search_options {
  length_kind goal =
      length_kind::makespan;  ///< what to make short; `period`: as `longest_span`, which it equals on one route
  std::vector<bytes> memory_limits{};  ///< of whole devices, resident bytes included; 0, or no entry: no limit
  std::int64_t operations = 0;         ///< budget of one search; 0: 2.5 million and 150 for each action
  std::uint64_t seed = 1;
  search_callback callback = nullptr;  ///< asked at every improvement and about every 65 000 operations of annealing
  void* context = nullptr;             ///< handed to the callback
};

/// A schedule and how far from the best it can be at most.
struct search_result {
  timeline best{};              ///< scheme `"auto"`
  ticks length = 0;             ///< of `best`, in the kind of length that was asked for
  line_bound bound{};           ///< no schedule is shorter, and why
  double gap = 0;               ///< length / bound − 1; 0 is proven to be the best
  std::int64_t operations = 0;  ///< used

  friend bool operator==(const search_result&, const search_result&) = default;
};

inline constexpr std::string_view searched_scheme = "auto";

/// Searches the best order of forwards and halves of backwards for one stage a device.
///
/// Starts from a list scheduler with a portfolio of policies, ZB-H1, ZB-H2 and 1F1B, then anneals the policies of the devices
/// and, where there are few actions, the order itself; stops at the lower bound. Microbatches must be equal; devices need not.
/// Deterministic: the same arguments give the same plan everywhere. Never longer than ZB-H1, ZB-H2 or 1F1B where those fit
/// the limits; and never longer than with room for `k` microbatches on each device where the limits have room for more, for
/// every `k` up to that where memory is hardly missed (the lower bound is within 0.1 % of that without limits).
///
/// Complexity: at most `operations` actions are placed, some 20 million a second, and as many again for each smaller number
/// of microbatches whose lower bound promises a shorter schedule; mostly none, and mostly the first few orders are the best.
/// Post: the order fits the limits and `best` is what `simulate` says of it.
/// Errors: `over_memory` where one microbatch does not fit, and those of `make_line_problem`.
template <class Costs, class Memory>
[[nodiscard]] search_result search(const pipeline_shape& shape, const Costs& costs, const Memory& memory,
                                   const search_options& options = {}) {
  if constexpr (check_cost_model<Costs>() && check_memory_model<Memory>()) {
    const line_problem problem = make_line_problem(shape, costs, memory, options.memory_limits, options.goal);
    const std::int64_t actions = 3 * std::int64_t{shape.devices} * shape.microbatches;
    constexpr std::int64_t most_operations = std::int64_t{1} << 50;
    const std::int64_t budget =
        options.operations > 0 ? std::min(options.operations, most_operations) : 2'500'000 + 150 * actions;
    const detail::search_request request{budget, options.seed, options.callback, options.context};
    const detail::line_found found = detail::search_ladder(problem, request);
    search_result result{.bound = found.bound, .operations = found.operations};
    result.best = simulate(detail::make_line_actions(found.order, shape, searched_scheme), costs);
    if (const line_problem cheapest = detail::with_cheapest_backwards(problem, shape, costs); cheapest != problem) {
      result.bound = lower_bound_of(cheapest);
      result.best =
          detail::whole_backwards(costs, memory, options.memory_limits, options.goal).shortest(std::move(result.best));
    }
    result.length = length_of(result.best, options.goal);
    if (result.bound.length > 0)
      result.gap = static_cast<double>(result.length) / static_cast<double>(result.bound.length) - 1;
    return result;
  }
}

/// What keeps the schedule from being shorter, in words: `"device 7: load"`, `"stage 0: memory, 4 in flight"`.
[[nodiscard]] inline std::string binding_text(const search_result& result) {
  const line_bound& bound = result.bound;
  const bool short_of_memory = bound.in_flight < result.best.program.shape.microbatches;
  const std::string fits = detail::text(bound.in_flight, " in flight");
  switch (bound.rule) {
    case line_bound::reason::load: return detail::text("device ", bound.device.value, ": load");
    case line_bound::reason::ends:
      return short_of_memory ? detail::text("stage ", bound.device.value, ": memory, ", fits)
                             : detail::text("stage ", bound.device.value, ": first and last microbatch");
    case line_bound::reason::path: return detail::text("stage ", bound.device.value, ": path down and back");
    case line_bound::reason::tail:
      return detail::text("device ", bound.through.value, ": load, with the way from stage ", bound.device.value,
                          " and back");
    case line_bound::reason::steps:
      return detail::text("stage ", bound.device.value,
                          ": first and last microbatch, with gaps that whole actions leave");
    case line_bound::reason::memory: return detail::text("stage ", bound.device.value, ": memory, ", fits);
    case line_bound::reason::exhaustive: return "no order is shorter: all were looked at";
  }
  return {};
}

}  // namespace brim
