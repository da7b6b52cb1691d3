// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/admission.hpp>
#include <brim/fill/analysis.hpp>
#include <brim/fill/filler.hpp>
#include <brim/fill/options.hpp>
#include <brim/fill/prepare.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace brim::detail {

/// A run of one group that has reached a repeating table: the last `window.steps` steps.
struct group_cycle {
  std::vector<run_piece> pieces;
  run_window window;
  std::vector<ticks> work;       ///< optional work in the window, by lane of the group
  std::int32_t greatest_age = 0;
  bytes kept = 0;
};

/// A table of all groups with one length.
struct cycle_candidate {
  std::int32_t steps = 0;
  std::vector<group_cycle> groups;
  double loss = 0;  ///< share of all lanes' time that work could fill and does not
  std::int32_t age_over_load = 0;  ///< the most by which a group's greatest age exceeds its load, rounded up
  bytes kept = 0;
};

template <fill_policy Policy>
class cycle_search {
 public:
  cycle_search(const prepared_fill& prepared, const Policy& policy, const fill_options& options, std::int32_t devices)
      : prepared_(prepared), policy_(policy), options_(options), devices_(devices) {
    for (const fill_group& group : prepared.groups) {
      loads_.push_back(load_of(prepared.work, prepared.bubbles, group));
      greatest_load_ = std::max(greatest_load_, loads_.back().load());
      for (std::size_t lane = 0; lane < group.lanes.size(); ++lane) {
        usable_ += static_cast<double>(std::min(loads_.back().capacity[lane], loads_.back().work[lane]));
      }
    }
  }

  /// The shortest table that is within the tolerance of the bound and whose ages are low; else, of those with low ages that
  /// are within the tolerance of the best, the one with the lowest age, then the least memory, then the shortest.
  cycle_candidate best() {
    const auto shortest = static_cast<std::int32_t>(std::max(1.0, std::min(std::ceil(greatest_load_), 1e6)));
    const std::int32_t longest = std::max(options_.longest_cycle, static_cast<std::int32_t>(std::min(2 * greatest_load_ + 1, 4096.0)));
    std::vector<cycle_candidate> found;
    for (std::int32_t steps = shortest; steps <= longest; ++steps) {
      std::optional<cycle_candidate> candidate = of_length(steps);
      if (!candidate) continue;
      if (candidate->loss <= options_.tolerance && candidate->age_over_load <= age_allowance) return std::move(*candidate);
      found.push_back(std::move(*candidate));
    }
    if (found.empty()) refuse();
    const bool any_young = std::any_of(found.begin(), found.end(), [](const cycle_candidate& c) { return c.age_over_load <= age_allowance; });
    if (any_young) std::erase_if(found, [](const cycle_candidate& c) { return c.age_over_load > age_allowance; });
    double least = found.front().loss;
    for (const cycle_candidate& c : found) least = std::min(least, c.loss);
    const auto worse = [&](const cycle_candidate& a, const cycle_candidate& b) {
      const bool close_a = a.loss <= least + options_.tolerance;
      const bool close_b = b.loss <= least + options_.tolerance;
      if (close_a != close_b) return close_b;
      if (a.age_over_load != b.age_over_load) return a.age_over_load > b.age_over_load;
      if (a.kept != b.kept) return a.kept > b.kept;
      return a.steps > b.steps;
    };
    return std::move(*std::max_element(found.begin(), found.end(), worse));
  }

 private:
  /// Steps by which the greatest age may exceed the load, rounded up, in the shortest good table.
  static constexpr std::int32_t age_allowance = 2;
  /// Rounds of a table after which its state must repeat.
  static constexpr int most_rounds = 24;
  /// Shares of the idle time that are tried, in that order: the greatest that a greedy fill keeps up with wins.
  static constexpr double shares[] = {1.0, .999, .998, .997, .996, .995, .9925, .99, .985, .98, .97, .96, .95, .92, .88, .84, .8, .7, .6, .5, .4, .3, .2, .1};

  std::optional<cycle_candidate> of_length(std::int32_t steps) {
    cycle_candidate out{.steps = steps};
    double used = 0;
    for (std::size_t g = 0; g < prepared_.groups.size(); ++g) {
      std::optional<group_cycle> cycle = of_group(g, steps);
      if (!cycle) return std::nullopt;
      for (const ticks work : cycle->work) used += static_cast<double>(work) / steps;
      const auto load = static_cast<std::int32_t>(std::ceil(std::min(loads_[g].load(), 1e6)));
      out.age_over_load = std::max(out.age_over_load, cycle->greatest_age - load);
      out.kept = std::max(out.kept, cycle->kept);
      out.groups.push_back(std::move(*cycle));
    }
    out.loss = (usable_ - used) / (static_cast<double>(prepared_.bubbles.tail.size()) * static_cast<double>(prepared_.bubbles.step_length));
    return out;
  }

  /// The table with the most work that the fill keeps up with. Bisection: less work is taken to be easier.
  std::optional<group_cycle> of_group(std::size_t g, std::int32_t steps) {
    std::vector<std::vector<std::int32_t>> tables;
    for (const double share : shares) {
      std::vector<std::int32_t> counts = refresh_counts(loads_[g], steps, share);
      if (counts.empty()) break;
      if (tables.empty() || counts != tables.back()) tables.push_back(std::move(counts));
    }
    std::optional<group_cycle> best;
    std::size_t low = 0;
    std::size_t high = tables.size();
    while (low < high) {
      const std::size_t middle = best || low > 0 ? (low + high) / 2 : low;
      std::optional<group_cycle> cycle = repeat(prepared_.groups[g], stagger(loads_[g], tables[middle], steps));
      if (cycle && fits_memory(prepared_.groups[g], *cycle)) {
        best = std::move(cycle);
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return best;
  }

  /// Runs the table until a round ends in the state in which it began.
  std::optional<group_cycle> repeat(const fill_group& group, const admission_table& table) {
    filler<Policy> run(prepared_.work, prepared_.bubbles, group, policy_, options_.margin_permille);
    std::vector<std::int64_t> before;
    for (int round = 0; round < most_rounds; ++round) {
      for (const std::vector<std::int32_t>& started : table)
        if (!run.run_step(started)) return std::nullopt;
      std::vector<std::int64_t> after = run.state();
      if (round > 0 && after == before) {
        const auto steps = static_cast<std::int32_t>(table.size());
        return describe(group, std::move(run.placed()), {run.step() - steps, steps});
      }
      before = std::move(after);
    }
    return std::nullopt;
  }

  group_cycle describe(const fill_group& group, std::vector<run_piece> pieces, run_window window) const {
    group_cycle out{.pieces = std::move(pieces), .window = window, .work = {}};
    out.work = work_in_window(prepared_.work, group, out.pieces, window);
    for (const std::int32_t lane : group.lanes) {
      out.greatest_age = std::max(out.greatest_age, freshness_of_lane(prepared_.work, prepared_.bubbles, lane, out.pieces, window).greatest_age);
      out.kept = std::max(out.kept, kept_on_lane(prepared_.work, prepared_.bubbles, lane, out.pieces, window));
    }
    return out;
  }

  bool fits_memory(const fill_group& group, const group_cycle& cycle) {
    if (options_.kept_limits.empty()) return true;
    for (const std::int32_t lane : group.lanes) {
      const bytes limit = options_.kept_limits[static_cast<std::size_t>(lane % devices_)];
      const bytes kept = kept_on_lane(prepared_.work, prepared_.bubbles, lane, cycle.pieces, cycle.window);
      if (kept <= limit) continue;
      if (least_refused_.device < 0 || kept - limit < least_refused_.kept - least_refused_.limit) least_refused_ = {lane % devices_, kept, limit};
      return false;
    }
    return true;
  }

  [[noreturn]] void refuse() const {
    if (least_refused_.device >= 0)
      raise(error_code::over_memory,
            text("fill: device ", least_refused_.device, " would keep at least ", least_refused_.kept, " bytes of inputs and errors for its statistics, and has ",
                 least_refused_.limit, " bytes left for them"),
            {.device = least_refused_.device});
    raise(error_code::no_fill, text("fill: no repeating table of at most ", options_.longest_cycle,
                                    " steps keeps up with the work; raise longest_cycle, or allow panels"));
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

/// All units at once, again at the first step after everything is done, group by group.
template <fill_policy Policy>
cycle_candidate one_shot_cycle(const prepared_fill& prepared, const Policy& policy, const fill_options& options, std::int32_t devices) {
  static_cast<void>(devices);
  cycle_candidate out{.steps = 1};
  constexpr std::int32_t most_steps = 4096;
  for (const fill_group& group : prepared.groups) {
    filler<Policy> run(prepared.work, prepared.bubbles, group, policy, options.margin_permille);
    std::vector<std::int32_t> all(group.units.size());
    for (std::size_t u = 0; u < all.size(); ++u) all[u] = static_cast<std::int32_t>(u);
    const auto once = [&] {
      const std::int32_t first = run.step();
      run.run_step(all);
      while (run.backlog() > 0 && run.step() - first < most_steps) run.run_step({});
      return run.step() - first;
    };
    once();
    const std::int32_t steps = once();
    if (run.backlog() > 0) raise(error_code::no_fill, text("fill: a refresh of everything takes more than ", most_steps, " steps"));
    group_cycle cycle{.pieces = std::move(run.placed()), .window = {run.step() - steps, steps}, .work = {}};
    cycle.work = work_in_window(prepared.work, group, cycle.pieces, cycle.window);
    out.groups.push_back(std::move(cycle));
  }
  return out;
}

}  // namespace brim::detail
