// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/exact_line.hpp>
#include <brim/search/line_starts.hpp>
#include <brim/search/order_annealing.hpp>
#include <brim/search/order_polish.hpp>
#include <brim/search/policy_annealing.hpp>
#include <brim/search/portfolio.hpp>
#include <brim/search/search_state.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// A policy that was tried.
struct ranked_policy {
  ticks length = 0;
  line_policy policy{};
};

/// The steps of a search on one problem, each more expensive than the one before.
class line_search {
 public:
  line_search(search_state& state, std::uint64_t seed) : state_(state), seed_(seed) {}

  void run() {
    try_recipes();
    if (!state_.proven() && !state_.stopped) try_fixed_orders();  // promised, whatever the budget
    if (!state_.over() && cells() <= exact_cells) look_at_all();
    if (!state_.over()) sweep_goals();
    for (int round = 0; round < rounds && !state_.over(); ++round) anneal(round);
    if (!state_.over()) order_polish(state_).run(state_.best, state_.budget - state_.used);
  }

 private:
  static constexpr int rounds = 2;
  static constexpr std::size_t kept = 4;
  static constexpr std::int64_t exact_cells = 16;         ///< greatest devices × microbatches for branch and bound
  static constexpr std::int64_t exact_nodes = 1'000'000;  ///< and the actions that it may place

  [[nodiscard]] std::int64_t cells() const {
    return std::int64_t{state_.problem.microbatches} * state_.problem.count();
  }

  void try_recipes() {
    for (const policy_recipe& recipe : policy_recipes) {
      try_ranked(make_policy(state_.problem, recipe, state_.bound.length));
      if (state_.over()) return;
    }
  }
  void try_fixed_orders() {
    for (const fixed_rule& rule : fixed_rules) {
      const line_order order = make_fixed_order(state_.problem, rule);
      if (order_fits(order, state_.problem)) state_.try_order(order);
    }
  }
  /// The recipes again, aimed at lengths between the bound and the best.
  void sweep_goals() {
    constexpr std::array<std::int64_t, 2> sixteenths{4, 12};
    for (const std::int64_t part : sixteenths)
      for (const policy_recipe& recipe : policy_recipes) {
        const ticks goal = state_.bound.length + (state_.best_length - state_.bound.length) * part / 16;
        try_ranked(make_policy(state_.problem, recipe, goal));
        if (state_.over()) return;
      }
  }
  /// Branch and bound below the best so far: a shorter order, or the proof that there is none.
  void look_at_all() {
    line_order order;
    const std::int64_t nodes = std::min(exact_nodes, state_.budget - state_.used);
    const exact_answer answer = solve_exactly(state_.problem, state_.best_length - 1, nodes, &order);
    state_.used += answer.nodes;
    if (answer.found) state_.try_order(order);
    if (answer.complete && state_.problem.exact_memory) {
      state_.bound.length = state_.best_length;
      state_.bound.rule = line_bound::reason::exhaustive;
    }
  }
  /// A share of what is left for each start: first the policies, then the order itself. The second round goes on from where the
  /// first one came to, with less heat.
  void anneal(int round) {
    const std::size_t starts = std::min<std::size_t>(2, ranked_.size());
    const bool small = cells() <= order_annealing::most_cells;
    const std::int64_t share = (state_.budget - state_.used) * 7 / 8 / (rounds - round) / (small ? 2 : 1);
    for (std::size_t k = 0; k < starts && !state_.over(); ++k) {
      policy_annealing annealing(state_, seed_ + static_cast<std::uint64_t>(round) * 2 + k);
      annealing.run(ranked_[k].policy, share / static_cast<std::int64_t>(starts), round == 0 ? 1 : 3);
      if (annealing.best_length() <= ranked_[k].length) ranked_[k] = {annealing.best_length(), annealing.best()};
    }
    if (small && !state_.over())
      order_annealing(state_, seed_ + static_cast<std::uint64_t>(round)).run(state_.best, share);
  }
  void try_ranked(line_policy policy) {
    const ticks most = ranked_.size() < kept ? list_scheduler::unknown : ranked_.back().length;
    const ticks length = state_.try_policy(policy, most);
    if (length == list_scheduler::unknown) return;
    const auto place =
        std::find_if(ranked_.begin(), ranked_.end(), [&](const ranked_policy& r) { return length < r.length; });
    ranked_.insert(place, {length, std::move(policy)});
    if (ranked_.size() > kept) ranked_.pop_back();
  }

  search_state& state_;
  std::uint64_t seed_;
  std::vector<ranked_policy> ranked_{};
};

}  // namespace brim::detail
