// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_bound.hpp>
#include <brim/search/line_order.hpp>
#include <brim/search/line_problem.hpp>
#include <brim/search/line_timing.hpp>
#include <brim/search/list_scheduler.hpp>

#include <cstdint>

namespace brim {

/// Where a search stands, for a callback. A search may be one of several, with room for fewer microbatches each time: then these
/// are the numbers of the one in hand.
struct search_progress {
  std::int64_t operations = 0;  ///< used so far
  ticks length = 0;             ///< of the best order so far
  ticks bound = 0;              ///< no order is shorter
};

/// Asked now and then whether to go on; `context` is the caller's. Answering `stop` ends the search with what it has.
enum class search_answer : std::uint8_t { go_on, stop };
using search_callback = search_answer (*)(void* context, const search_progress& progress);

namespace detail {

/// What all steps of a search share: the problem, the best order so far, and what is left of the budget. The budget counts
/// operations: actions placed by the list scheduler; timing an order is cheaper and counts an eighth of its actions.
struct search_state {
  const line_problem& problem;
  line_bound bound{};
  list_scheduler scheduler;
  line_timing timing;
  line_order best{};
  ticks best_length = list_scheduler::unknown;
  std::int64_t used = 0;
  std::int64_t budget = 0;
  search_callback callback = nullptr;
  void* context = nullptr;
  bool stopped = false;
  std::int64_t next_report = 0;

  search_state(const line_problem& wanted, std::int64_t operations)
      : problem(wanted),
        bound(lower_bound_of(wanted)),
        scheduler(wanted),
        timing(wanted),
        budget(operations) {}

  [[nodiscard]] bool proven() const { return best_length <= bound.length; }
  [[nodiscard]] bool over() const { return proven() || stopped || used >= budget; }

  /// Runs a policy; its order becomes the best if it is shorter. Gives its length, or `unknown` above `most`.
  ticks try_policy(const line_policy& policy, ticks most) {
    return take_if_shorter(scheduler.run(policy, most, used), scheduler.order());
  }
  /// The same for an order that fits.
  ticks try_order(const line_order& order) {
    used += count_timing();
    return take_if_shorter(timing.run(order), order);
  }
  ticks take_if_shorter(ticks length, const line_order& order) {
    const bool shorter = length < best_length;
    if (shorter) {
      best_length = length;
      best = order;
    }
    if (shorter || used >= next_report) report();
    return length;
  }
  /// Lets the caller look at the search, and stop it.
  void report() {
    next_report = used + (std::int64_t{1} << 16);
    if (callback != nullptr && callback(context, {used, best_length, bound.length}) == search_answer::stop)
      stopped = true;
  }
  [[nodiscard]] std::int64_t count_timing() const {
    return 1 + 3 * static_cast<std::int64_t>(problem.microbatches) * problem.count() / 8;
  }
};

}  // namespace detail
}  // namespace brim
