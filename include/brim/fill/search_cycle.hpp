// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/sort_key.hpp>
#include <brim/fill/admission.hpp>
#include <brim/fill/analysis.hpp>
#include <brim/fill/filler.hpp>
#include <brim/fill/options.hpp>
#include <brim/fill/prepare.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// A run of one group that has reached a repeating table: the last `window.steps` steps. Empty where there is none.
struct group_cycle {
  std::vector<run_piece> pieces{};
  run_window window{};
  std::vector<ticks> work{};  ///< optional work in the window, by lane of the group
  std::int32_t greatest_age = 0;
  bytes kept = 0;

  [[nodiscard]] bool found() const { return !work.empty(); }
};

/// The numbers of a run's window.
inline group_cycle describe_cycle(const prepared_fill& prepared, const fill_group& group, std::vector<run_piece> pieces,
                                  run_window window) {
  group_cycle out{.pieces = std::move(pieces), .window = window, .work = {}};
  out.work = work_in_window(prepared.work, group, out.pieces, window);
  for (const std::int32_t lane : group.lanes) {
    out.greatest_age = std::max(
        out.greatest_age, freshness_of_lane(prepared.work, prepared.bubbles, lane, out.pieces, window).greatest_age);
    out.kept = std::max(out.kept, kept_on_lane(prepared.work, prepared.bubbles, lane, out.pieces, window));
  }
  return out;
}

/// The least common multiple of the groups' lengths where that is short, else the longest; the others then rest in between.
inline std::int32_t common_length(const std::vector<group_cycle>& cycles) {
  constexpr std::int32_t longest_common = 64;
  std::int32_t longest = 1;
  for (const group_cycle& c : cycles) longest = std::max(longest, c.window.steps);
  for (std::int32_t common = longest; common <= longest_common; common += longest)
    if (std::all_of(cycles.begin(), cycles.end(), [&](const group_cycle& c) { return common % c.window.steps == 0; }))
      return common;
  return longest;
}

[[noreturn]] inline void raise_kept(std::int32_t device, bytes kept, bytes limit) {
  raise(error_code::over_memory,
        text("fill: device ", device, " would keep ", kept, " bytes of inputs and errors for its statistics, and has ",
             limit, " bytes left for them"),
        {.device = device});
}

/// Stops with `over_memory` where a device keeps more than its limit.
inline void check_kept(const prepared_fill& prepared, const fill_options& options, const fill_group& group,
                       const group_cycle& cycle, std::int32_t devices) {
  if (options.kept_limits.empty()) return;
  for (const std::int32_t lane : group.lanes) {
    const bytes limit = options.kept_limits[static_cast<std::size_t>(lane % devices)];
    const bytes kept = kept_on_lane(prepared.work, prepared.bubbles, lane, cycle.pieces, cycle.window);
    if (kept > limit) raise_kept(lane % devices, kept, limit);
  }
}

/// A table of all groups with one length. Empty where there is none.
struct cycle_candidate {
  std::int32_t steps = 0;
  std::vector<group_cycle> groups{};
  double loss = 0;                 ///< share of all lanes' time that work could fill and does not
  std::int32_t age_over_load = 0;  ///< the most by which a group's greatest age exceeds its load, rounded up
  bytes kept = 0;

  /// Steps by which the greatest age may exceed the load, rounded up, in a good table.
  static constexpr std::int32_t age_allowance = 2;

  [[nodiscard]] bool found() const { return steps > 0; }
  [[nodiscard]] bool young() const { return age_over_load <= age_allowance; }
  [[nodiscard]] bool good(double tolerance) const { return loss <= tolerance && young(); }
};

/// The one to take: young before old; near the least loss before far from it; then the lowest age, the least memory, the
/// shortest.
inline std::size_t best_of(const std::vector<cycle_candidate>& found, double tolerance) {
  const bool any_young = std::any_of(found.begin(), found.end(), [](const cycle_candidate& c) { return c.young(); });
  double least = 1;
  for (const cycle_candidate& c : found)
    if (c.young() == any_young) least = std::min(least, c.loss);
  const auto key = [&](const cycle_candidate& c) {
    const bool close = c.young() == any_young && c.loss <= least + tolerance / 2;
    return sort_key(!close, c.age_over_load, c.kept, c.steps);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < found.size(); ++i)
    if (key(found[i]) < key(found[best])) best = i;
  return best;
}

template <fill_policy Policy>
class cycle_search {
 public:
  cycle_search(const prepared_fill& prepared, const Policy& policy, const fill_options& options, std::int32_t devices)
      : prepared_(prepared),
        policy_(policy),
        options_(options),
        devices_(devices) {
    for (const fill_group& group : prepared.groups) {
      loads_.push_back(load_of(prepared.work, prepared.bubbles, group));
      greatest_load_ = std::max(greatest_load_, loads_.back().load());
      for (std::size_t lane = 0; lane < group.lanes.size(); ++lane) {
        usable_ += static_cast<double>(std::min(loads_.back().capacity[lane], loads_.back().work[lane]));
      }
    }
  }

  /// The shortest good table, else the best of all lengths; nothing where no table keeps up within the memory.
  cycle_candidate best() {
    const auto shortest = std::max(1, whole_steps(greatest_load_));
    const std::int32_t longest =
        std::max(options_.longest_cycle, static_cast<std::int32_t>(std::min(2 * greatest_load_ + 1, 4096.0)));
    std::vector<cycle_candidate> found;
    for (std::int32_t steps = shortest; steps <= longest && found.size() < most_candidates; ++steps) {
      cycle_candidate candidate = of_length(steps);
      if (!candidate.found()) continue;
      if (candidate.good(options_.tolerance)) return candidate;
      found.push_back(std::move(candidate));
    }
    if (found.empty()) return {};
    return std::move(found[best_of(found, options_.tolerance)]);
  }

  /// Why there is no table. Call it after `best` has found none.
  [[noreturn]] void refuse() const {
    if (least_refused_.device >= 0) raise_kept(least_refused_.device, least_refused_.kept, least_refused_.limit);
    raise(error_code::no_fill, text("fill: no repeating table of at most ", options_.longest_cycle,
                                    " steps keeps up with the work; raise longest_cycle, or allow panels"));
  }

 private:
  static constexpr std::int32_t any_age = 0x7fffffff;
  /// Lengths that are compared where none is good.
  static constexpr std::size_t most_candidates = 6;
  /// Rounds of a table after which its state must repeat.
  static constexpr int most_rounds = 24;
  /// Shares of the idle time that are tried, in that order: the greatest that a greedy fill keeps up with wins.
  static constexpr double shares[] = {1.0, .999, .998, .997, .996, .995, .9925, .99, .985, .98, .97, .96,
                                      .95, .92,  .88,  .84,  .8,   .7,   .6,    .5,  .4,   .3,  .2,  .1};

  cycle_candidate of_length(std::int32_t steps) {
    cycle_candidate out{.steps = steps};
    double used = 0;
    for (std::size_t g = 0; g < prepared_.groups.size(); ++g) {
      group_cycle cycle = of_group(g, steps);
      if (!cycle.found()) return {};
      for (const ticks work : cycle.work) used += static_cast<double>(work) / steps;
      const auto load = whole_steps(loads_[g].load());
      out.age_over_load = std::max(out.age_over_load, cycle.greatest_age - load);
      out.kept = std::max(out.kept, cycle.kept);
      out.groups.push_back(std::move(cycle));
    }
    out.loss = (usable_ - used) / (static_cast<double>(prepared_.bubbles.tail.size()) *
                                   static_cast<double>(prepared_.bubbles.step_length));
    return out;
  }

  /// The better of the two ways to stagger, with low ages if that is possible at all.
  group_cycle of_group(std::size_t g, std::int32_t steps) {
    const std::int32_t young = whole_steps(loads_[g].load()) + cycle_candidate::age_allowance;
    for (const std::int32_t most_age : {young, any_age}) {
      group_cycle spread = most_work(g, steps, stagger_rule::equal_units, most_age);
      if (spread.found() && loss_of(g, spread) <= options_.tolerance) return spread;
      group_cycle plain = most_work(g, steps, stagger_rule::all_units, most_age);
      if (plain.found() && (!spread.found() || loss_of(g, plain) < loss_of(g, spread))) return plain;
      if (spread.found()) return spread;
    }
    return {};
  }

  /// Share of the lanes' time that work could fill and does not.
  [[nodiscard]] double loss_of(std::size_t g, const group_cycle& cycle) const {
    double missing = 0;
    for (std::size_t lane = 0; lane < cycle.work.size(); ++lane)
      missing += static_cast<double>(std::min(loads_[g].capacity[lane], loads_[g].work[lane])) -
                 static_cast<double>(cycle.work[lane]) / cycle.window.steps;
    return missing / (static_cast<double>(cycle.work.size()) * static_cast<double>(prepared_.bubbles.step_length));
  }

  /// The table with the most work that the fill keeps up with. Bisection: less work is taken to be easier.
  group_cycle most_work(std::size_t g, std::int32_t steps, stagger_rule rule, std::int32_t most_age) {
    std::vector<std::vector<std::int32_t>> tables;
    for (const double share : shares) {
      std::vector<std::int32_t> counts = refresh_counts(loads_[g], steps, share);
      if (counts.empty()) break;
      if (tables.empty() || counts != tables.back()) tables.push_back(std::move(counts));
    }
    group_cycle best;
    std::size_t low = 0;
    std::size_t high = tables.size();
    while (low < high) {
      const std::size_t middle = best.found() || low > 0 ? (low + high) / 2 : low;
      group_cycle cycle = repeat(prepared_.groups[g], stagger(loads_[g], tables[middle], steps, rule));
      if (cycle.found() && cycle.greatest_age <= most_age && fits_memory(prepared_.groups[g], cycle)) {
        best = std::move(cycle);
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return best;
  }

  /// Runs the table until a round ends in the state in which it began.
  group_cycle repeat(const fill_group& group, const admission_table& table) {
    filler<Policy> run(prepared_.work, prepared_.bubbles, group, policy_, options_.margin_permille);
    std::vector<std::int64_t> before;
    for (int round = 0; round < most_rounds; ++round) {
      for (const std::vector<std::int32_t>& started : table)
        if (!run.run_step(started)) return {};
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

  bool fits_memory(const fill_group& group, const group_cycle& cycle) {
    if (options_.kept_limits.empty()) return true;
    for (const std::int32_t lane : group.lanes) {
      const bytes limit = options_.kept_limits[static_cast<std::size_t>(lane % devices_)];
      const bytes kept = kept_on_lane(prepared_.work, prepared_.bubbles, lane, cycle.pieces, cycle.window);
      if (kept <= limit) continue;
      if (least_refused_.device < 0 || kept - limit < least_refused_.kept - least_refused_.limit)
        least_refused_ = {lane % devices_, kept, limit};
      return false;
    }
    return true;
  }

  struct refused_memory {
    std::int32_t device = -1;
    bytes kept = 0;
    bytes limit = 0;
  };

  const prepared_fill& prepared_;
  const Policy& policy_;
  const fill_options& options_;
  std::int32_t devices_;
  std::vector<group_load> loads_;
  double greatest_load_ = 0;
  double usable_ = 0;  ///< idle time of one step that one refresh of everything can use, over all lanes
  refused_memory least_refused_;
};

/// All units of a group at once, again at the first step after everything is done, but not before `least_steps`.
template <fill_policy Policy>
group_cycle one_shot_group(const prepared_fill& prepared, const fill_group& group, const Policy& policy,
                           const fill_options& options, std::int32_t least_steps) {
  constexpr std::int32_t most_steps = 4096;
  filler<Policy> run(prepared.work, prepared.bubbles, group, policy, options.margin_permille);
  std::vector<std::int32_t> all(group.units.size());
  for (std::size_t u = 0; u < all.size(); ++u) all[u] = static_cast<std::int32_t>(u);
  const auto once = [&] {
    const std::int32_t first = run.step();
    run.run_step(all);
    while ((!run.idle() || run.step() - first < least_steps) && run.step() - first < most_steps) run.run_step({});
    return run.step() - first;
  };
  once();
  const std::int32_t steps = once();
  if (!run.idle())
    raise(error_code::no_fill, text("fill: a refresh of everything takes more than ", most_steps, " steps"));
  return describe_cycle(prepared, group, std::move(run.placed()), {run.step() - steps, steps});
}

/// Group by group; where no short table holds whole cycles of all groups, the faster ones wait for the slowest.
template <fill_policy Policy>
cycle_candidate one_shot_cycle(const prepared_fill& prepared, const Policy& policy, const fill_options& options,
                               std::int32_t devices) {
  cycle_candidate out{.steps = 1};
  for (const fill_group& group : prepared.groups)
    out.groups.push_back(one_shot_group(prepared, group, policy, options, 1));
  const std::int32_t length = common_length(out.groups);
  for (std::size_t g = 0; g < out.groups.size(); ++g) {
    const fill_group& group = prepared.groups[g];
    if (length % out.groups[g].window.steps != 0)
      out.groups[g] = one_shot_group(prepared, group, policy, options, length);
    check_kept(prepared, options, group, out.groups[g], devices);
  }
  return out;
}

}  // namespace brim::detail
