// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/bubbles.hpp>
#include <brim/fill/filler.hpp>
#include <brim/fill/work.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace brim::detail {

/// The steps of a run that are looked at; what happened before counts as history. A window that repeats stands for all
/// that follows; after one that does not, the run must go on until nothing from the window is pending.
struct run_window {
  std::int32_t first = 0;
  std::int32_t steps = 1;
  bool repeats = true;
};

/// Optional work that each lane of a group did in the window.
inline std::vector<ticks> work_in_window(const work_set& work, const fill_group& group,
                                         std::span<const run_piece> pieces, run_window window) {
  std::vector<ticks> sums(group.lanes.size(), 0);
  for (const run_piece& p : pieces) {
    if (p.step < window.first || p.step >= window.first + window.steps) continue;
    const auto at =
        std::find(group.lanes.begin(), group.lanes.end(), work.batches[static_cast<std::size_t>(p.batch)].lane);
    sums[static_cast<std::size_t>(at - group.lanes.begin())] += p.time.length();
  }
  return sums;
}

/// How fresh the results of a lane are.
struct freshness {
  double interval = 0;            ///< mean steps between two results, of the batch with the fewest
  std::int32_t greatest_age = 0;  ///< at a step's end: steps since the statistics behind the newest finished result
};

/// Follows every batch that finishes a refresh (that signals nothing) through the run. Complexity: linear in pieces + batches × steps.
inline freshness freshness_of_lane(const work_set& work, const bubble_set& bubbles, std::int32_t lane,
                                   std::span<const run_piece> pieces, run_window window) {
  struct result {
    ticks done;
    std::int32_t origin;
  };
  std::vector<std::vector<result>> results(work.batches.size());
  for (const run_piece& p : pieces) {
    const work_batch& batch = work.batches[static_cast<std::size_t>(p.batch)];
    if (batch.lane == lane && batch.signals < 0 && p.piece + 1 == batch.pieces)
      results[static_cast<std::size_t>(p.batch)].push_back({p.time.end, p.origin});
  }
  freshness out;
  const std::int32_t end = window.first + window.steps;
  for (std::size_t b = 0; b < work.batches.size(); ++b) {
    if (work.batches[b].lane != lane || work.batches[b].signals >= 0) continue;
    std::int32_t inside = 0;
    std::size_t next = 0;
    std::int32_t newest = -1;
    for (std::int32_t step = 0; step < end; ++step) {
      const ticks used_at = step * bubbles.step_length + bubbles.makespan;
      for (; next < results[b].size() && results[b][next].done <= used_at; ++next) {
        newest = std::max(newest, results[b][next].origin);
        if (step >= window.first) ++inside;
      }
      if (step >= window.first) out.greatest_age = std::max(out.greatest_age, step - newest);
    }
    out.interval = std::max(
        out.interval, inside == 0 ? static_cast<double>(window.steps) * 2 : static_cast<double>(window.steps) / inside);
  }
  return out;
}

/// The greatest amount of data that a lane keeps, inside the window, only because its statistics have not run yet.
inline bytes kept_on_lane(const work_set& work, const bubble_set& bubbles, std::int32_t lane,
                          std::span<const run_piece> pieces, run_window window) {
  struct change {
    ticks at;
    bytes amount;
  };
  std::vector<change> changes;
  const ticks begin = window.first * bubbles.step_length;
  const ticks end = begin + window.steps * bubbles.step_length;
  for (const run_piece& p : pieces) {
    const work_batch& batch = work.batches[static_cast<std::size_t>(p.batch)];
    if (batch.lane != lane || batch.kept == 0 || batch.release_count == 0 || (p.piece + 1) % batch.division != 0)
      continue;
    if (window.repeats && (p.step < window.first || p.step >= window.first + window.steps)) continue;
    const work_release& release =
        work.releases[batch.first_release + static_cast<std::uint32_t>(p.piece / batch.division)];
    ticks from = p.origin * bubbles.step_length + release.kept_from;
    ticks until = p.time.end;
    for (; from < end && from < until; from += end - begin, until += end - begin) {
      if (until >= begin) {
        changes.push_back({from, batch.kept});
        changes.push_back({until, -batch.kept});
      }
      if (!window.repeats) break;
    }
  }
  std::sort(changes.begin(), changes.end(),
            [](const change& a, const change& b) { return a.at < b.at || (a.at == b.at && a.amount < b.amount); });
  bytes now = 0;
  bytes peak = 0;
  for (const change& c : changes) {
    if (c.at >= begin && c.at < end) peak = std::max(peak, now);
    now += c.amount;
    if (c.at >= begin && c.at < end) peak = std::max(peak, now);
  }
  return peak;
}

}  // namespace brim::detail
