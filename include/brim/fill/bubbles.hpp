// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/sort_key.hpp>
#include <brim/fill/work.hpp>
#include <brim/schedule/timeline.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace brim {

/// The idle stretches of one step, by lane, and when its tail runs.
struct bubble_set {
  ticks step_length = 0;
  ticks makespan = 0;
  std::vector<interval> gaps{};        ///< lane by lane, by time, none empty
  std::vector<std::size_t> offsets{};  ///< `lanes + 1` positions
  std::vector<ticks> tail{};           ///< time that the lane spends on its work on the path
  std::vector<interval> tail_times{};  ///< of every entry of the tail

  [[nodiscard]] std::span<const interval> of(std::int32_t lane) const {
    const auto at = static_cast<std::size_t>(lane);
    return std::span(gaps).subspan(offsets[at], offsets[at + 1] - offsets[at]);
  }
  [[nodiscard]] ticks longest(std::int32_t lane) const {
    ticks best = 0;
    for (const interval& gap : of(lane)) best = std::max(best, gap.length());
    return best;
  }
  [[nodiscard]] ticks total(std::int32_t lane) const {
    ticks sum = 0;
    for (const interval& gap : of(lane)) sum += gap.length();
    return sum;
  }
};

namespace detail {

/// When the work on the path runs: lane by lane in order from the makespan on; a collective starts when the last of the
/// lanes that have it has come to it.
class tail_clock {
  [[nodiscard]] auto key(std::size_t i) const {
    return sort_key(tail_[i].what.kind, tail_[i].what.stage, tail_[i].what.layer, tail_[i].what.side);
  }

 public:
  tail_clock(const std::vector<tail_work>& tail, ticks makespan, std::size_t lanes)
      : tail_(tail),
        at_(lanes, makespan),
        next_(lanes),
        times_(tail.size()) {
    rows_.resize(lanes);
    for (std::size_t i = 0; i < tail.size(); ++i) rows_[static_cast<std::size_t>(tail[i].lane)].push_back(i);
    for (std::size_t i = 0; i < tail.size(); ++i)
      if (is_met(i)) collectives_.push_back(i);
    std::sort(collectives_.begin(), collectives_.end(),
              [&](std::size_t a, std::size_t b) { return sort_key(key(a), a) < sort_key(key(b), b); });
    arrived_.assign(collectives_.size(), 0);
  }

  std::vector<interval> run() {
    std::vector<std::size_t> awake(rows_.size());
    for (std::size_t lane = 0; lane < awake.size(); ++lane) awake[lane] = lane;
    std::size_t done = 0;
    while (!awake.empty()) {
      const std::size_t lane = awake.back();
      awake.pop_back();
      while (next_[lane] < rows_[lane].size()) {
        const std::size_t i = rows_[lane][next_[lane]];
        if (is_met(i)) {
          done += meet(i, awake);
          break;
        }
        execute(i, at_[lane]);
        ++done;
      }
    }
    if (done != tail_.size())
      raise(error_code::no_fill, "fill: the collectives of the source's tail do not meet in one order on all lanes");
    return std::move(times_);
  }

 private:
  [[nodiscard]] bool is_met(std::size_t i) const { return is_collective(tail_[i].what.kind); }
  void execute(std::size_t i, ticks start) {
    times_[i] = {start, start + tail_[i].duration};
    const auto lane = static_cast<std::size_t>(tail_[i].lane);
    at_[lane] = times_[i].end;
    ++next_[lane];
  }

  /// A lane has come to a collective. With the last one all of them run it and go on; gives how many did.
  std::size_t meet(std::size_t i, std::vector<std::size_t>& awake) {
    const auto first =
        std::partition_point(collectives_.begin(), collectives_.end(), [&](std::size_t c) { return key(c) < key(i); });
    const auto last = std::partition_point(first, collectives_.end(), [&](std::size_t c) { return key(c) == key(i); });
    if (++arrived_[static_cast<std::size_t>(first - collectives_.begin())] < last - first) return 0;
    ticks start = 0;
    for (auto c = first; c != last; ++c) start = std::max(start, at_[static_cast<std::size_t>(tail_[*c].lane)]);
    for (auto c = first; c != last; ++c) {
      execute(*c, start);
      awake.push_back(static_cast<std::size_t>(tail_[*c].lane));
    }
    return static_cast<std::size_t>(last - first);
  }

  const std::vector<tail_work>& tail_;
  std::vector<ticks> at_;                       ///< by lane
  std::vector<std::size_t> next_;               ///< by lane: position in its row
  std::vector<interval> times_;                 ///< by entry
  std::vector<std::vector<std::size_t>> rows_;  ///< entries of each lane, in order
  std::vector<std::size_t> collectives_;        ///< entries, those of one collective together
  std::vector<std::ptrdiff_t> arrived_;         ///< at the first entry of each collective: lanes that have come to it
};

}  // namespace detail

/// The bubbles of a pipeline step that ends with the tail of `work`, which starts when the last device is done.
/// Complexity: O(n log n) in the tail, linear in the pipeline's actions times replicas.
[[nodiscard]] inline bubble_set bubbles_of(const timeline_view& pipeline, const work_set& work) {
  const auto lanes = static_cast<std::size_t>(work.replicas) * static_cast<std::size_t>(pipeline.shape.devices);
  bubble_set bubbles{.offsets = {0}, .tail = std::vector<ticks>(lanes, 0)};
  for (const interval& time : pipeline.times) bubbles.makespan = std::max(bubbles.makespan, time.end);
  bubbles.step_length = bubbles.makespan;
  bubbles.tail_times = detail::tail_clock(work.tail, bubbles.makespan, lanes).run();
  std::vector<std::vector<interval>> busy(lanes);  // also moments at which the lane comes by, which no piece may cover
  for (std::size_t i = 0; i < work.tail.size(); ++i) {
    const auto lane = static_cast<std::size_t>(work.tail[i].lane);
    bubbles.tail[lane] += work.tail[i].duration;
    bubbles.step_length = std::max(bubbles.step_length, bubbles.tail_times[i].end);
    if (bubbles.tail_times[i].length() > 0 || !is_collective(work.tail[i].what.kind))
      busy[lane].push_back(bubbles.tail_times[i]);
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    ticks idle_from = 0;
    const auto occupy = [&](const interval& time) {
      if (time.start > idle_from) bubbles.gaps.push_back({idle_from, time.start});
      idle_from = time.end;
    };
    const device_index device(static_cast<std::int64_t>(lane % static_cast<std::size_t>(pipeline.shape.devices)));
    for (const interval& time : pipeline.times_of(device)) occupy(time);
    occupy({bubbles.makespan, bubbles.makespan});
    for (const interval& time : busy[lane]) occupy(time);
    occupy({bubbles.step_length, bubbles.step_length});
    bubbles.offsets.push_back(bubbles.gaps.size());
  }
  return bubbles;
}

}  // namespace brim
