// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_search.hpp>
#include <brim/search/search_state.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace brim::detail {

/// What a search is given besides its problem.
struct search_request {
  std::int64_t operations = 0;
  std::uint64_t seed = 1;
  search_callback callback = nullptr;
  void* context = nullptr;
};

/// What it finds.
struct line_found {
  line_order order{};
  ticks length = 0;
  line_bound bound{};
  std::int64_t operations = 0;
  bool stopped = false;
};

/// The limits that let `count` microbatches through each device.
[[nodiscard]] inline line_problem with_in_flight(line_problem problem, std::int64_t count) {
  for (line_device& d : problem.devices) d.limit = std::min(d.limit, count * d.taken);
  return problem;
}

/// How many microbatches fit on every device before its first backward_input.
[[nodiscard]] inline std::int64_t fit_everywhere(const line_problem& problem) {
  std::int64_t count = problem.microbatches;
  for (std::size_t d = 0; d < problem.devices.size(); ++d) count = std::min(count, problem.most_in_flight(d));
  return count;
}

/// The rungs of a problem: numbers of microbatches in flight that are searched on their own. All up to the one where the lower
/// bound comes within 0.1 % of that of unlimited memory, twice that, and all microbatches.
class memory_rungs {
 public:
  explicit memory_rungs(const line_problem& problem) : all_(problem.microbatches) {
    line_problem free = problem;
    for (line_device& d : free.devices) d.limit = unlimited_memory;
    free = with_in_flight(free, all_);
    const ticks unlimited = lower_bound_of(free).length;
    const ticks near = unlimited + unlimited / 1024;
    std::int64_t below = 0;
    enough_ = all_;
    while (enough_ - below > 1) {
      const std::int64_t middle = below + (enough_ - below) / 2;
      (lower_bound_of(with_in_flight(free, middle)).length <= near ? enough_ : below) = middle;
    }
  }

  /// The greatest rung up to `count`.
  [[nodiscard]] std::int64_t at_most(std::int64_t count) const {
    if (count >= all_) return all_;
    return count >= 2 * enough_ ? 2 * enough_ : std::min(count, enough_);
  }

 private:
  std::int64_t all_;
  std::int64_t enough_ = 0;
};

/// One search with these limits and no others.
[[nodiscard]] inline line_found search_line(const line_problem& problem, const search_request& request) {
  search_state state(problem, request.operations);
  state.callback = request.callback;
  state.context = request.context;
  line_search(state, request.seed).run();
  return {std::move(state.best), state.best_length, state.bound, state.used, state.stopped};
}

/// The best of the searches with the given limits and on the rungs below, whose orders fit as well: a search is a heuristic, and
/// may do better with less. So the result is never longer than with limits that are a rung below. Rungs whose lower
/// bound is no better than the best so far are left out.
[[nodiscard]] inline line_found search_ladder(const line_problem& problem, const search_request& request) {
  const line_problem given = with_in_flight(problem, problem.microbatches);  // more cannot be used
  line_found best = search_line(given, request);
  if (best.stopped || best.length <= best.bound.length) return best;
  const memory_rungs rungs(given);
  for (std::int64_t count = rungs.at_most(fit_everywhere(given));
       count >= 1 && best.length > best.bound.length && !best.stopped; count = rungs.at_most(count - 1)) {
    const line_problem fewer = with_in_flight(given, count);
    if (fewer == given) continue;
    if (lower_bound_of(fewer).length >= best.length) break;
    line_found found = search_line(fewer, request);
    best.operations += found.operations;
    best.stopped = found.stopped;
    if (found.length >= best.length) continue;
    best.length = found.length;
    best.order = std::move(found.order);
  }
  return best;
}

}  // namespace brim::detail
