// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/sort_key.hpp>
#include <brim/fill/admission.hpp>
#include <brim/fill/filler.hpp>
#include <brim/fill/group_cycle.hpp>
#include <brim/fill/options.hpp>
#include <brim/fill/prepare.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace brim::detail {

/// What a search may cost. Counted in pieces and steps, not in time, so that every machine finds the same.
class search_budget {
 public:
  explicit search_budget(std::size_t operations) : operations_(operations) {}

  void spend(std::size_t operations) { used_ += operations; }
  /// Time to take what has been found.
  [[nodiscard]] bool spent() const { return used_ > operations_; }
  /// Time to give up, also with nothing found.
  [[nodiscard]] bool exhausted() const { return used_ > 8 * operations_; }

 private:
  std::size_t operations_;
  std::size_t used_ = 0;
};

/// How good a repeating table is.
struct table_rating {
  std::int32_t steps = 0;
  double loss = 0;                 ///< share of the lanes' time that work could fill and does not
  std::int32_t age_over_load = 0;  ///< the most by which a group's greatest age exceeds its load, rounded up
  bytes kept = 0;

  /// Steps by which the greatest age may exceed the load, rounded up, in a good table.
  static constexpr std::int32_t age_allowance = 2;

  [[nodiscard]] bool young() const { return age_over_load <= age_allowance; }
  [[nodiscard]] bool good(double tolerance) const { return loss <= tolerance && young(); }
  /// Worth shorter pieces: good where the other is not, else younger, else fuller by more than the tolerance.
  [[nodiscard]] bool better(const table_rating& than, double tolerance) const {
    if (good(tolerance) != than.good(tolerance)) return good(tolerance);
    return young() != than.young() ? young() : loss < than.loss - tolerance;
  }
};

/// Tables of some groups; where there is none its rating has no steps.
struct cycle_candidate {
  table_rating rating{};
  std::vector<group_cycle> groups{};

  [[nodiscard]] bool found() const { return rating.steps > 0; }
};

/// The one to take: young before old; near the least loss before far from it; then the lowest age, the least memory, the
/// shortest.
inline std::size_t best_of(const std::vector<cycle_candidate>& found, double tolerance) {
  const bool any_young =
      std::any_of(found.begin(), found.end(), [](const cycle_candidate& c) { return c.rating.young(); });
  double least = 1;
  for (const cycle_candidate& c : found)
    if (c.rating.young() == any_young) least = std::min(least, c.rating.loss);
  const auto key = [&](const cycle_candidate& c) {
    const bool close = c.rating.young() == any_young && c.rating.loss <= least + tolerance / 2;
    return sort_key(!close, c.rating.age_over_load, c.rating.kept, c.rating.steps);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < found.size(); ++i)
    if (key(found[i]) < key(found[best])) best = i;
  return best;
}

/// Searches tables with refreshes spread over their steps. Groups of lanes never wait for each other, so each has a table of
/// its own length; where the lengths have no short common multiple, all get the same length.
template <fill_policy Policy>
class cycle_search {
 public:
  cycle_search(const prepared_fill& prepared, const Policy& policy, const fill_options& options, std::int32_t devices,
               std::size_t most_operations)
      : prepared_(prepared),
        policy_(policy),
        options_(options),
        devices_(devices),
        budget_(most_operations) {
    for (const fill_group& group : prepared.groups) {
      loads_.push_back(load_of(prepared.work, prepared.bubbles, group));
      all_.push_back(all_.size());
    }
  }

  /// For each group the shortest good table, else the best of all lengths; nothing where no table keeps up within the
  /// memory.
  cycle_candidate best() {
    std::vector<group_cycle> own;
    for (const std::size_t g : all_) {
      refused_ = {};
      cycle_candidate alone = shortest_good({g});
      if (!alone.found()) return {};
      own.push_back(std::move(alone.groups.front()));
    }
    if (own.size() == 1 || common_length(own, options_.longest_cycle > 0 ? options_.longest_cycle : longest_common) > 0)
      return rated(all_, std::move(own));
    return shortest_good(all_);
  }

  /// After `best` has found none: the table that came nearest to the limits, of the group that has none within them.
  [[nodiscard]] const kept_refusal& refused() const { return refused_; }

 private:
  using group_list = std::vector<std::size_t>;

  static constexpr std::int32_t any_age = 0x7fffffff;
  /// Where the options do not say: steps of the longest table of a group with little load, and of what groups have in common.
  static constexpr std::int32_t longest_looked_for = 16;
  static constexpr std::int32_t longest_common = 32;
  /// Below this all lengths are looked at.
  static constexpr std::int32_t every_length = 32;
  /// Lengths that are compared where none is good.
  static constexpr std::size_t most_candidates = 6;
  /// Rounds of a table after which its state must repeat: many of a short one, where what is left from the start is
  /// still there after the first rounds.
  [[nodiscard]] static constexpr std::size_t rounds_of(std::size_t steps) {
    constexpr std::size_t steps_of_short_ones = std::size_t{24} * every_length;
    return std::clamp<std::size_t>(steps_of_short_ones / steps, 6, 24);
  }
  /// Shares of the idle time that are tried, in that order: the greatest that a greedy fill keeps up with wins.
  static constexpr double shares[] = {1.0, .999, .998, .997, .996, .995, .9925, .99, .985, .98, .97, .96,
                                      .95, .92,  .88,  .84,  .8,   .7,   .6,    .5,  .4,   .3,  .2,  .1};

  /// Tables of one length for these groups: the shortest good ones, else the best.
  cycle_candidate shortest_good(const group_list& groups) {
    const std::vector<std::int32_t> lengths = lengths_for(groups);
    std::vector<cycle_candidate> found;
    for (std::size_t at = first_length(groups, lengths); at < lengths.size() && found.size() < most_candidates; ++at) {
      if (budget_.exhausted() || (!found.empty() && budget_.spent())) break;
      cycle_candidate candidate = of_length(groups, lengths[at]);
      if (!candidate.found()) continue;
      if (candidate.rating.good(options_.tolerance)) return candidate;
      found.push_back(std::move(candidate));
    }
    if (found.empty()) return {};
    return std::move(found[best_of(found, options_.tolerance)]);
  }

  /// Every length at first, then only lengths that differ by a thirty-second.
  [[nodiscard]] std::vector<std::int32_t> lengths_for(const group_list& groups) const {
    double load = 0;
    for (const std::size_t g : groups) load = std::max(load, loads_[g].load());
    const std::int32_t longest =
        options_.longest_cycle > 0
            ? options_.longest_cycle
            : std::max(longest_looked_for, static_cast<std::int32_t>(std::min(2 * load + 1, 4096.0)));
    std::vector<std::int32_t> lengths;
    for (std::int32_t steps = std::max(1, whole_steps(load)); steps <= longest; steps += 1 + steps / every_length)
      lengths.push_back(steps);
    return lengths;
  }

  /// Where to start looking. Short tables are cheap, so all are looked at; of the long ones the first that keep up are
  /// found by bisection: a longer table has less to do in each step.
  std::size_t first_length(const group_list& groups, const std::vector<std::int32_t>& lengths) {
    if (lengths.empty() || lengths.front() < every_length) return 0;
    std::size_t low = 0;
    for (std::size_t high = lengths.size(); low < high && !budget_.exhausted();) {
      const std::size_t middle = (low + high) / 2;
      if (of_length(groups, lengths[middle]).found())
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  cycle_candidate of_length(const group_list& groups, std::int32_t steps) {
    std::vector<group_cycle> cycles;
    for (const std::size_t g : groups) {
      cycles.push_back(of_group(g, steps));
      if (!cycles.back().found()) return {};
    }
    return rated(groups, std::move(cycles));
  }

  [[nodiscard]] cycle_candidate rated(const group_list& groups, std::vector<group_cycle> cycles) const {
    cycle_candidate out{.rating = {.steps = 1}, .groups = {}};
    double missing = 0, lanes = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const group_cycle& cycle = cycles[i];
      const auto load = whole_steps(loads_[groups[i]].load());
      missing += missing_work(groups[i], cycle);
      lanes += static_cast<double>(cycle.lanes.size());
      out.rating.steps = std::max(out.rating.steps, cycle.window.steps);
      out.rating.age_over_load = std::max(out.rating.age_over_load, cycle.greatest_age - load);
      out.rating.kept = std::max(out.rating.kept, cycle.kept);
    }
    if (lanes > 0) out.rating.loss = missing / (lanes * static_cast<double>(prepared_.bubbles.step_length));
    out.groups = std::move(cycles);
    return out;
  }

  /// The better of the two ways to stagger, with low ages if that is possible at all.
  group_cycle of_group(std::size_t g, std::int32_t steps) {
    const double allowed = options_.tolerance * static_cast<double>(loads_[g].capacity.size()) *
                           static_cast<double>(prepared_.bubbles.step_length);
    const std::int32_t young = whole_steps(loads_[g].load()) + table_rating::age_allowance;
    table_runs equal(*this, g, steps, stagger_rule::equal_units);
    table_runs all(*this, g, steps, stagger_rule::all_units);
    for (const std::int32_t most_age : {young, any_age}) {
      group_cycle spread = equal.most_work(most_age);
      if (spread.found() && missing_work(g, spread) <= allowed) return spread;
      if (all == equal) {
        if (spread.found()) return spread;
        continue;
      }
      group_cycle plain = all.most_work(most_age);
      if (plain.found() && (!spread.found() || missing_work(g, plain) < missing_work(g, spread))) return plain;
      if (spread.found()) return spread;
    }
    return {};
  }

  /// Time of a step, over all lanes of the group, that work could fill and does not.
  [[nodiscard]] double missing_work(std::size_t g, const group_cycle& cycle) const {
    double missing = 0;
    for (std::size_t lane = 0; lane < cycle.lanes.size(); ++lane)
      missing += static_cast<double>(std::min(loads_[g].capacity[lane], loads_[g].work[lane])) -
                 static_cast<double>(cycle.lanes[lane].work) / cycle.window.steps;
    return missing;
  }

  /// The tables of one length and rule, from the most work to the least, and how they run.
  class table_runs {
   public:
    table_runs(cycle_search& search, std::size_t g, std::int32_t steps, stagger_rule rule) : search_(search), g_(g) {
      std::vector<std::int32_t> before;
      for (const double share : shares) {
        std::vector<std::int32_t> counts = refresh_counts(search.loads_[g], steps, share);
        if (counts.empty()) break;
        if (counts == before) continue;
        tables_.push_back(stagger(search.loads_[g], counts, steps, rule));
        before = std::move(counts);
      }
      runs_.resize(tables_.size());
      known_.resize(tables_.size(), false);
    }

    [[nodiscard]] bool operator==(const table_runs& other) const { return tables_ == other.tables_; }

    /// The one with the most work that the fill keeps up with. Bisection: less work is taken to be easier.
    group_cycle most_work(std::int32_t most_age) {
      const group_cycle* best = nullptr;
      std::size_t low = 0;
      std::size_t high = tables_.size();
      while (low < high) {
        const std::size_t middle = best != nullptr || low > 0 ? (low + high) / 2 : low;
        const group_cycle& cycle = run(middle);
        if (cycle.found() && cycle.greatest_age <= most_age) {
          best = &cycle;
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return best == nullptr ? group_cycle{} : *best;
    }

   private:
    const group_cycle& run(std::size_t table) {
      if (!known_[table]) {
        const fill_group& group = search_.prepared_.groups[g_];
        group_cycle cycle = search_.repeat(group, tables_[table]);
        const kept_refusal over = search_.over(group, cycle);
        if (!over.exists()) runs_[table] = std::move(cycle);
        known_[table] = true;
      }
      return runs_[table];
    }

    cycle_search& search_;
    std::size_t g_;
    std::vector<admission_table> tables_;
    std::vector<group_cycle> runs_;  ///< empty where the table does not repeat, or keeps too much
    std::vector<bool> known_;
  };

  kept_refusal over(const fill_group& group, const group_cycle& cycle) {
    const kept_refusal over = over_limit(options_, group, cycle, devices_);
    refused_ = nearer(refused_, over);
    return over;
  }

  /// Runs the table until a round ends in the state in which it began.
  group_cycle repeat(const fill_group& group, const admission_table& table) {
    filler<Policy> run(prepared_.work, prepared_.bubbles, group, policy_, options_.margin_permille);
    std::vector<std::int64_t> before;
    for (std::size_t round = 0; round < rounds_of(table.size()); ++round) {
      const std::size_t placed = run.placed().size();
      for (const std::vector<std::int32_t>& started : table)
        if (!run.run_step(started)) return {};
      budget_.spend(table.size() * group.lanes.size() + run.placed().size() - placed);
      std::vector<std::int64_t> after = run.state();
      if (round > 0 && after == before) {
        for (const std::vector<std::int32_t>& started : table) run.run_step(started);  // its past repeats too
        const auto steps = static_cast<std::int32_t>(table.size());
        return describe_cycle(prepared_, group, std::move(run.placed()), {run.step() - steps, steps});
      }
      before = std::move(after);
    }
    return {};
  }

  const prepared_fill& prepared_;
  const Policy& policy_;
  const fill_options& options_;
  std::int32_t devices_;
  kept_refusal refused_;  ///< in the search for the group in hand
  search_budget budget_;
  std::vector<group_load> loads_;
  group_list all_;
};

}  // namespace brim::detail
