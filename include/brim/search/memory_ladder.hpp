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

/// One search with these limits and no others.
[[nodiscard]] inline line_found search_line(const line_problem& problem, const search_request& request) {
  search_state state(problem, request.operations);
  state.callback = request.callback;
  state.context = request.context;
  line_search(state, request.seed).run();
  return {std::move(state.best), state.best_length, state.bound, state.used, state.stopped};
}

/// The limits that let `count` microbatches through each device.
[[nodiscard]] inline line_problem with_in_flight(line_problem problem, std::int64_t count) {
  for (line_device& d : problem.devices) d.limit = std::min(d.limit, count * d.taken);
  return problem;
}

/// The best of the search with the given limits and of those with fewer microbatches in flight, whose orders fit as well:
/// a search is a heuristic, and may do better with less. So the result with a number of microbatches for a limit is never
/// longer than with a smaller number. Smaller numbers whose lower bound is no better than the best so far are left out.
[[nodiscard]] inline line_found search_ladder(const line_problem& problem, const search_request& request) {
  std::int64_t count = problem.microbatches;
  for (std::size_t d = 0; d < problem.devices.size(); ++d) count = std::min(count, problem.most_in_flight(d));
  const line_problem all = with_in_flight(problem, problem.microbatches);  // more cannot be used
  line_found best = search_line(all, request);
  for (; count >= 1 && best.length > best.bound.length && !best.stopped; --count) {
    const line_problem fewer = with_in_flight(all, count);
    if (fewer == all) continue;
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
