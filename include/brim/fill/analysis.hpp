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

/// What one lane of a group did in a window.
struct lane_numbers {
  ticks work = 0;                 ///< optional work
  double interval = 0;            ///< mean steps between two results, of the batch with the fewest
  std::int32_t greatest_age = 0;  ///< at a step's end: steps since the statistics behind the newest finished result
  bytes kept = 0;                 ///< greatest amount of data that wait only because their statistics have not run yet
};

/// Reads the numbers of every lane from the pieces of a run. Complexity: O(pieces log) + batches × steps.
class run_analysis {
 public:
  run_analysis(const work_set& work, const bubble_set& bubbles, const fill_group& group,
               std::span<const run_piece> pieces, run_window window)
      : work_(work),
        bubbles_(bubbles),
        group_(group),
        window_(window),
        begin_(window.first * bubbles.step_length),
        end_(begin_ + window.steps * bubbles.step_length),
        numbers_(group.lanes.size()),
        changes_(group.lanes.size()) {
    for (const std::int32_t u : group.units) {
      const work_unit& unit = work.units[static_cast<std::size_t>(u)];
      for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b)
        if (work.batches[b].signals < 0) last_batches_.push_back(static_cast<std::int32_t>(b));
    }
    results_.resize(last_batches_.size());
    for (const run_piece& p : pieces) read(p);
  }

  std::vector<lane_numbers> run() {
    for (std::size_t i = 0; i < last_batches_.size(); ++i) follow(i);
    for (std::size_t lane = 0; lane < changes_.size(); ++lane) numbers_[lane].kept = peak_of(changes_[lane]);
    return std::move(numbers_);
  }

 private:
  struct result {
    ticks done;
    std::int32_t origin;
  };
  struct change {
    ticks at;
    bytes amount;
  };

  [[nodiscard]] const work_batch& batch_at(std::int32_t b) const { return work_.batches[static_cast<std::size_t>(b)]; }
  [[nodiscard]] std::size_t position_of(std::int32_t lane) const {
    return static_cast<std::size_t>(std::lower_bound(group_.lanes.begin(), group_.lanes.end(), lane) -
                                    group_.lanes.begin());
  }
  [[nodiscard]] bool is_inside(std::int32_t step) const {
    return step >= window_.first && step < window_.first + window_.steps;
  }

  void read(const run_piece& p) {
    const work_batch& batch = batch_at(p.batch);
    const std::size_t lane = position_of(batch.lane);
    if (is_inside(p.step)) numbers_[lane].work += p.time.length();
    if (batch.signals < 0 && p.piece + 1 == batch.pieces) {
      const auto at = std::lower_bound(last_batches_.begin(), last_batches_.end(), p.batch);
      results_[static_cast<std::size_t>(at - last_batches_.begin())].push_back({p.time.end, p.origin});
    }
    if (batch.kept > 0 && batch.release_count > 0 && (p.piece + 1) % batch.division == 0)
      keep(batch, p, changes_[lane]);
  }

  /// A batch that ends a refresh (that signals nothing), through the run.
  void follow(std::size_t i) {
    lane_numbers& out = numbers_[position_of(batch_at(last_batches_[i]).lane)];
    std::int32_t inside = 0;
    std::size_t next = 0;
    std::int32_t newest = -1;
    const std::int32_t end = window_.first + window_.steps;
    for (std::int32_t step = 0; step < end; ++step) {
      const ticks used_at = step * bubbles_.step_length + bubbles_.makespan;
      for (; next < results_[i].size() && results_[i][next].done <= used_at; ++next) {
        newest = std::max(newest, results_[i][next].origin);
        if (step >= window_.first) ++inside;
      }
      if (step >= window_.first) out.greatest_age = std::max(out.greatest_age, step - newest);
    }
    const auto steps = static_cast<double>(window_.steps);
    out.interval = std::max(out.interval, inside == 0 ? steps * 2 : steps / inside);
  }

  /// The data of one release, kept until its last piece has run; in a window that repeats also those of earlier rounds.
  void keep(const work_batch& batch, const run_piece& p, std::vector<change>& changes) const {
    if (window_.repeats && !is_inside(p.step)) return;
    const work_release& release =
        work_.releases[batch.first_release + static_cast<std::uint32_t>(p.piece / batch.division)];
    ticks from = p.origin * bubbles_.step_length + release.kept_from;
    ticks until = p.time.end;
    for (; from < end_ && from < until; from += end_ - begin_, until += end_ - begin_) {
      if (until >= begin_) {
        changes.push_back({from, batch.kept});
        changes.push_back({until, -batch.kept});
      }
      if (!window_.repeats) break;
    }
  }

  [[nodiscard]] bytes peak_of(std::vector<change>& changes) const {
    std::sort(changes.begin(), changes.end(),
              [](const change& a, const change& b) { return a.at < b.at || (a.at == b.at && a.amount < b.amount); });
    bytes now = 0;
    bytes peak = 0;
    for (const change& c : changes) {
      if (c.at >= begin_ && c.at < end_) peak = std::max(peak, now);
      now += c.amount;
      if (c.at >= begin_ && c.at < end_) peak = std::max(peak, now);
    }
    return peak;
  }

  const work_set& work_;
  const bubble_set& bubbles_;
  const fill_group& group_;
  run_window window_;
  ticks begin_;  ///< of the window
  ticks end_;
  std::vector<lane_numbers> numbers_;         ///< by lane of the group
  std::vector<std::vector<change>> changes_;  ///< of what is kept, by lane of the group
  std::vector<std::int32_t> last_batches_;    ///< of the units' refreshes
  std::vector<std::vector<result>> results_;  ///< of `last_batches_`, by time
};

}  // namespace brim::detail
