// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/bubbles.hpp>
#include <brim/fill/filler.hpp>
#include <brim/fill/work.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// Work of one unit on one lane, and the capacity of the lanes: what an admission table has to respect.
struct group_load {
  std::vector<std::vector<ticks>> unit_work;  ///< by unit and lane (positions in the group)
  std::vector<ticks> capacity;                ///< idle time of one step, by lane
  std::vector<ticks> work;                    ///< of one refresh of everything, by lane

  /// Steps that one refresh of everything takes at least.
  [[nodiscard]] double load() const {
    double worst = 0;
    for (std::size_t lane = 0; lane < capacity.size(); ++lane) {
      if (work[lane] == 0) continue;
      worst = std::max(
          worst, capacity[lane] == 0 ? 1e9 : static_cast<double>(work[lane]) / static_cast<double>(capacity[lane]));
    }
    return worst;
  }
};

inline group_load load_of(const work_set& work, const bubble_set& bubbles, const fill_group& group) {
  group_load out;
  std::vector<std::size_t> position(bubbles.tail.size(), 0);
  for (std::size_t i = 0; i < group.lanes.size(); ++i) {
    position[static_cast<std::size_t>(group.lanes[i])] = i;
    out.capacity.push_back(bubbles.total(group.lanes[i]));
  }
  out.work.assign(group.lanes.size(), 0);
  for (const std::int32_t u : group.units) {
    std::vector<ticks> of_lane(group.lanes.size(), 0);
    const work_unit& unit = work.units[static_cast<std::size_t>(u)];
    for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b) {
      const ticks sum = work.batches[b].duration * work.batches[b].pieces;
      of_lane[position[static_cast<std::size_t>(work.batches[b].lane)]] += sum;
      out.work[position[static_cast<std::size_t>(work.batches[b].lane)]] += sum;
    }
    out.unit_work.push_back(std::move(of_lane));
  }
  return out;
}

/// A load, rounded up to whole steps.
[[nodiscard]] constexpr std::int32_t whole_steps(double load) {
  const auto below = static_cast<std::int32_t>(std::min(load, 1e6));
  return below < load ? below + 1 : below;
}

/// Which units start a refresh at which step of a repeating cycle.
using admission_table = std::vector<std::vector<std::int32_t>>;

/// How often each unit is refreshed in `steps` steps so that no lane is given more than `share` of its idle time: all
/// equally often, then once more the units, largest first, that still fit. Empty where not even one refresh of each fits.
inline std::vector<std::int32_t> refresh_counts(const group_load& load, std::int32_t steps, double share) {
  const double rounds = share * steps / load.load();
  const auto base = static_cast<std::int32_t>(std::min<double>(rounds, steps));
  if (base < 1) return {};
  std::vector<std::int32_t> counts(load.unit_work.size(), base);
  if (base == steps) return counts;
  std::vector<double> left;
  for (std::size_t lane = 0; lane < load.capacity.size(); ++lane)
    left.push_back(share * steps * static_cast<double>(load.capacity[lane]) -
                   static_cast<double>(base) * static_cast<double>(load.work[lane]));
  std::vector<std::size_t> by_size(counts.size());
  for (std::size_t u = 0; u < by_size.size(); ++u) by_size[u] = u;
  const auto total = [&](std::size_t u) {
    ticks sum = 0;
    for (const ticks work : load.unit_work[u]) sum += work;
    return sum;
  };
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) { return total(a) > total(b); });
  for (const std::size_t u : by_size) {
    bool fits = true;
    for (std::size_t lane = 0; lane < left.size(); ++lane)
      fits = fits && static_cast<double>(load.unit_work[u][lane]) <= left[lane];
    if (!fits) continue;
    ++counts[u];
    for (std::size_t lane = 0; lane < left.size(); ++lane) left[lane] -= static_cast<double>(load.unit_work[u][lane]);
  }
  return counts;
}

/// Which units are spread between each other. Neither is better on every pipeline.
enum class stagger_rule : std::uint8_t {
  equal_units,  ///< units of equal work, so that the long ones do not come together
  all_units,    ///< all units, in order of stages and layers
};

/// Spreads the refreshes evenly: those of one unit over the cycle, units between each other by `rule`, and the work of all
/// units over the steps.
inline admission_table stagger(const group_load& load, const std::vector<std::int32_t>& counts, std::int32_t steps,
                               stagger_rule rule) {
  struct start {
    std::int64_t when;  ///< in 2^-32 of the cycle
    std::int32_t unit;
    ticks work;
  };
  std::vector<ticks> works;
  for (const std::vector<ticks>& lanes : load.unit_work) {
    works.push_back(0);
    for (const ticks lane : lanes) works.back() += lane;
  }
  std::vector<std::size_t> by_work(counts.size());
  for (std::size_t u = 0; u < by_work.size(); ++u) by_work[u] = u;
  const bool all = rule == stagger_rule::all_units;
  if (!all)
    std::stable_sort(by_work.begin(), by_work.end(), [&](std::size_t a, std::size_t b) { return works[a] > works[b]; });
  std::vector<start> starts;
  for (std::size_t first = 0; first < by_work.size();) {
    std::size_t last = first;
    while (last < by_work.size() && (all || works[by_work[last]] == works[by_work[first]])) ++last;
    const auto equal = static_cast<std::int64_t>(last - first);
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t u = by_work[i];
      constexpr std::int64_t fine = std::int64_t{1} << 32;
      for (std::int32_t j = 0; j < counts[u]; ++j)
        starts.push_back({fine * (2 * std::int64_t{j} * equal + 2 * static_cast<std::int64_t>(i - first) + 1) /
                              (2 * equal * counts[u]),
                          static_cast<std::int32_t>(u), works[u]});
    }
    first = last;
  }
  std::stable_sort(starts.begin(), starts.end(), [](const start& a, const start& b) { return a.when < b.when; });
  ticks total = 0;
  for (const start& s : starts) total += s.work;
  admission_table table(static_cast<std::size_t>(steps));
  ticks before = 0;
  for (const start& s : starts) {
    auto at = total == 0 ? std::size_t{0}
                         : static_cast<std::size_t>((static_cast<double>(before) + static_cast<double>(s.work) / 2) /
                                                    static_cast<double>(total) * steps);
    at = std::min(at, table.size() - 1);
    while (std::find(table[at].begin(), table[at].end(), s.unit) != table[at].end()) at = (at + 1) % table.size();
    table[at].push_back(s.unit);
    before += s.work;
  }
  for (std::vector<std::int32_t>& row : table) std::sort(row.begin(), row.end());
  return table;
}

}  // namespace brim::detail
