// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/bubbles.hpp>
#include <brim/fill/concepts.hpp>
#include <brim/fill/earliest.hpp>
#include <brim/fill/margin.hpp>
#include <brim/fill/ready_set.hpp>
#include <brim/fill/work.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace brim::detail {

/// A set of lanes that share units, with everything that one refresh of those units consists of. Lanes of different
/// groups never wait for each other, so groups are filled one by one.
struct fill_group {
  std::vector<std::int32_t> lanes;  ///< lanes of the work set
  std::vector<std::int32_t> units;  ///< units of the work set
};

/// A piece in its place; times and steps count from the start of the run.
struct run_piece {
  std::int32_t batch;  ///< of the work set
  std::int32_t piece;
  std::int32_t step;
  std::int32_t origin;
  interval time;
};

/// Fills the bubbles of one group step by step. Work waits in the step's order of time: at every moment the lane that is
/// furthest behind moves, so that what one lane finishes is visible to the others exactly when it is finished.
///
/// Complexity: O(log) a piece for ranked policies plus the releases of the units that are in flight.
template <fill_policy Policy>
class filler {
 public:
  /// Refreshes that one unit may have in flight at once.
  static constexpr std::int32_t flights = 2;

  filler(const work_set& work, const bubble_set& bubbles, const fill_group& group, const Policy& policy,
         ticks margin_permille)
      : work_(work),
        bubbles_(bubbles),
        group_(group),
        policy_(policy),
        margin_permille_(margin_permille),
        furthest_behind_(group.lanes.size()) {
    std::vector<std::int32_t> unit_at(work.units.size(), -1);
    for (std::size_t u = 0; u < group.units.size(); ++u)
      unit_at[static_cast<std::size_t>(group.units[u])] = static_cast<std::int32_t>(u);
    std::vector<std::int32_t> part_at(work.batches.size(), -1);
    for (const std::int32_t lane : group.lanes) add_lane(lane, unit_at, part_at);
    std::uint32_t gates = 0;
    for (const std::int32_t u : group.units) {
      const work_unit& unit = work.units[static_cast<std::size_t>(u)];
      unit_state state{.first_part = static_cast<std::uint32_t>(unit_parts_.size()),
                       .parts = unit.batch_count,
                       .first_gate = gates,
                       .gates = unit.gates};
      for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b)
        unit_parts_.push_back(part_at[b]);
      gates += static_cast<std::uint32_t>(unit.gates * flights);
      units_.push_back(state);
    }
    gates_.assign(gates, {});
  }

  /// Starts a refresh of these units (positions in the group) with the statistics of the coming step, then fills the
  /// step. A unit with two refreshes in flight cannot be started: `false` is returned and nothing has changed.
  bool run_step(std::span<const std::int32_t> started) {
    for (const std::int32_t u : started)
      if (in_flight(u) >= flights) return false;
    for (std::size_t i = 0; i < started.size(); ++i) {
      if (i + ahead < started.size()) prefetch(parts_[first_part_of(started[i + ahead])]);
      start(units_[static_cast<std::size_t>(started[i])]);
    }
    const ticks begin = step_ * bubbles_.step_length;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      lanes_[i].gap = 0;
      lanes_[i].release = started.empty() ? lanes_[i].releases.size() : 0;
      enter_gap(lanes_[i], begin);
      furthest_behind_.set(i, lanes_[i].wake);
    }
    while (furthest_behind_.time() != never) {
      const std::size_t lane = furthest_behind_.first();
      advance(lanes_[lane], begin);
      furthest_behind_.set(lane, lanes_[lane].wake);
    }
    for (lane_state& lane : lanes_) release_until(lane, begin + bubbles_.step_length, begin);
    for (lane_state& lane : lanes_)
      std::erase_if(lane.live, [](const live_step& live) { return live.unfinished == 0; });
    ++step_;
    return true;
  }

  [[nodiscard]] std::int32_t step() const { return step_; }
  /// Work that is started and not yet placed, on one lane (a position in the group).
  [[nodiscard]] ticks backlog(std::size_t lane) const { return lanes_[lane].backlog; }
  [[nodiscard]] bool idle() const {
    return std::all_of(lanes_.begin(), lanes_.end(), [](const lane_state& lane) { return lane.backlog == 0; });
  }
  [[nodiscard]] std::int32_t in_flight(std::int32_t u) const {
    std::int32_t count = 0;
    for (const flight_state& flight : units_[static_cast<std::size_t>(u)].flight)
      count += flight.unfinished > 0 ? 1 : 0;
    return count;
  }
  /// Calls `use(batch, pieces not yet placed)` for every batch of a unit.
  template <class Use>
  void for_each_pending(std::int32_t u, Use use) const {
    const unit_state& unit = units_[static_cast<std::size_t>(u)];
    for (std::size_t i = unit.first_part; i < unit.first_part + unit.parts; ++i) {
      const part_state& part = parts_[static_cast<std::size_t>(unit_parts_[i])];
      use(part.batch, part.progress[0].pending + part.progress[1].pending);
    }
  }
  [[nodiscard]] std::vector<run_piece>& placed() { return placed_; }

  /// Everything that decides what happens next, relative to the coming step. Equal states have equal futures.
  [[nodiscard]] std::vector<std::int64_t> state() const {
    std::vector<std::int64_t> out{};
    const ticks begin = step_ * bubbles_.step_length;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      const unit_state& unit = units_[u];
      const int older = unit.flight[0].step <= unit.flight[1].step ? 0 : 1;
      for (const int f : {older, 1 - older}) {
        if (unit.flight[f].unfinished == 0) continue;
        out.push_back(static_cast<std::int64_t>(u));
        out.push_back(unit.flight[f].step - step_);
        for (std::size_t i = unit.first_part; i < unit.first_part + unit.parts; ++i) {
          const part_progress& p = parts_[static_cast<std::size_t>(unit_parts_[i])].progress[f];
          out.push_back((std::int64_t{p.released} << 32) | static_cast<std::int64_t>(p.pending));
        }
        for (std::int32_t g = 0; g < unit.gates; ++g) {
          const gate_state& gate = gates_[gate_at(unit, f, g)];
          out.push_back(gate.unfinished);
          out.push_back(std::max<ticks>(gate.latest - begin, 0));
        }
      }
    }
    for (const lane_state& lane : lanes_)
      for (const arrival& a : lane.arrivals) {
        out.push_back(a.at - begin);
        out.push_back(a.part);
      }
    return out;
  }

 private:
  static constexpr ticks never = earliest::never;

  struct part_progress {
    std::int32_t step = -1;  ///< statistics step
    std::int32_t released = 0;
    std::int32_t pending = 0;  ///< not yet placed, released or not
  };
  /// A batch, with all that placing one of its pieces touches, in one cache line.
  struct alignas(64) part_state {
    ticks duration;
    std::int32_t batch;
    std::int32_t unit;
    std::int32_t pieces;
    std::int32_t division;
    std::int32_t lane;  ///< position in `lanes_`
    std::int32_t rank;
    std::int32_t signals;
    part_progress progress[flights]{};

    /// The flight whose statistics the step takes; −1 for none.
    [[nodiscard]] std::int32_t fresh(std::int32_t step) const {
      for (std::int32_t f = 0; f < flights; ++f)
        if (progress[f].step == step) return f;
      return -1;
    }
  };
  static_assert(sizeof(part_state) == 64);
  struct flight_state {
    std::int32_t step = -1;
    std::int32_t unfinished = 0;  ///< batches
  };
  struct unit_state {
    std::uint32_t first_part;
    std::uint32_t parts;
    std::uint32_t first_gate;
    std::int32_t gates;
    flight_state flight[flights]{};
  };
  struct gate_state {
    std::int32_t unfinished = 0;  ///< batches
    ticks latest = 0;
  };
  struct arrival {  ///< a gate has opened: the batch is released at that time
    ticks at;
    std::int32_t part;
    std::int32_t flight;
  };
  struct live_step {
    std::int32_t step;
    std::int64_t unfinished;
    ready_set ready;
    std::int32_t last_ready = -1;  ///< the greatest member of `ready`, so that a step where nothing fits is passed over

    void insert(std::int32_t rank) {
      ready.insert(static_cast<std::size_t>(rank));
      last_ready = std::max(last_ready, rank);
    }
    void erase(std::int32_t rank) {
      ready.erase(static_cast<std::size_t>(rank));
      if (rank < last_ready) return;
      const std::size_t last = ready.last();
      last_ready = last == ready_set::none ? -1 : static_cast<std::int32_t>(last);
    }
  };
  struct timed_release {
    ticks at;
    std::int32_t part;
  };
  struct lane_state {
    std::int32_t lane;
    std::span<const interval> gaps;
    std::size_t first_part = 0;             ///< of this lane in `parts_`, where they stand by rank
    std::vector<ticks> room{};              ///< what a piece of each rank needs, margin included
    bool longest_first = false;             ///< rooms fall with rank, so the first that fits is found by bisection
    std::vector<timed_release> releases{};  ///< of one step, by time
    std::vector<live_step> live{};          ///< oldest first
    std::vector<arrival> arrivals{};        ///< of batches that a gate has released, by time
    std::size_t gap = 0;
    std::size_t release = 0;
    ticks position = 0;  ///< nothing before this moment can be used any more
    ticks gap_end = 0;
    ticks backlog = 0;
    ticks wake = never;  ///< the next moment at which something may happen on the lane
  };
  struct choice {
    live_step* live = nullptr;
    std::size_t rank = 0;
  };

  [[nodiscard]] static std::size_t gate_at(const unit_state& unit, std::int32_t flight, std::int32_t gate) {
    return unit.first_gate + static_cast<std::size_t>(flight * unit.gates + gate);
  }
  [[nodiscard]] const work_batch& batch_of(const part_state& part) const {
    return work_.batches[static_cast<std::size_t>(part.batch)];
  }

  /// Parts stand by rank and units by layer, so with many of them each step from one to the other leaves the cache. What is
  /// needed soon is asked for early.
  static constexpr std::size_t ahead = 8;
  template <class State>
  static void prefetch(const State& state) {
    __builtin_prefetch(&state, 1);
  }
  [[nodiscard]] std::size_t first_part_of(std::int32_t u) const {
    return static_cast<std::size_t>(unit_parts_[units_[static_cast<std::size_t>(u)].first_part]);
  }

  template <class Use>
  void for_each_part(const unit_state& unit, Use use) {
    for (std::size_t i = unit.first_part; i < unit.first_part + unit.parts; ++i)
      use(parts_[static_cast<std::size_t>(unit_parts_[i])]);
  }

  void add_lane(std::int32_t lane, const std::vector<std::int32_t>& unit_at, std::vector<std::int32_t>& part_at) {
    lane_state state{.lane = lane, .gaps = bubbles_.of(lane), .first_part = parts_.size()};
    std::vector<std::int32_t> batches{};
    for (const std::int32_t u : group_.units) {
      const work_unit& unit = work_.units[static_cast<std::size_t>(u)];
      for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b)
        if (work_.batches[b].lane == lane) batches.push_back(static_cast<std::int32_t>(b));
    }
    if constexpr (ranks_work<Policy>)
      std::stable_sort(batches.begin(), batches.end(), [&](std::int32_t a, std::int32_t b) {
        return policy_.before(work_.batches[static_cast<std::size_t>(a)], work_.batches[static_cast<std::size_t>(b)]);
      });
    for (std::size_t rank = 0; rank < batches.size(); ++rank) {
      const work_batch& batch = work_.batches[static_cast<std::size_t>(batches[rank])];
      const auto part = static_cast<std::int32_t>(parts_.size());
      part_at[static_cast<std::size_t>(batches[rank])] = part;
      parts_.push_back({.duration = batch.duration,
                        .batch = batches[rank],
                        .unit = unit_at[static_cast<std::size_t>(batch.unit)],
                        .pieces = batch.pieces,
                        .division = batch.division,
                        .lane = static_cast<std::int32_t>(lanes_.size()),
                        .rank = static_cast<std::int32_t>(rank),
                        .signals = batch.signals,
                        .progress = {}});
      state.room.push_back(room_for(batch.duration, margin_permille_));
      for (std::uint32_t r = batch.first_release; r < batch.first_release + batch.release_count; ++r)
        state.releases.push_back({work_.releases[r].at, part});
    }
    std::stable_sort(state.releases.begin(), state.releases.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    state.longest_first = std::is_sorted(state.room.rbegin(), state.room.rend());
    lanes_.push_back(std::move(state));
  }

  void start(unit_state& unit) {
    const std::int32_t f = unit.flight[0].unfinished == 0 ? 0 : 1;
    unit.flight[f] = {step_, static_cast<std::int32_t>(unit.parts)};
    for (std::int32_t g = 0; g < unit.gates; ++g) gates_[gate_at(unit, f, g)] = {};
    for_each_part(unit, [&](part_state& part) {
      part.progress[f] = {step_, 0, part.pieces};
      if (part.signals >= 0) ++gates_[gate_at(unit, f, part.signals)].unfinished;
      lane_state& lane = lanes_[static_cast<std::size_t>(part.lane)];
      if (lane.live.empty() || lane.live.back().step != step_)
        lane.live.push_back({.step = step_, .unfinished = 0, .ready = ready_set(lane.room.size())});
      lane.live.back().unfinished += part.pieces;
      lane.backlog += part.duration * part.pieces;
    });
  }

  void enter_gap(lane_state& lane, ticks begin) {
    if (lane.gap == lane.gaps.size()) {
      lane.wake = never;
      lane.gap_end = lane.position;
      return;
    }
    lane.position = begin + lane.gaps[lane.gap].start;
    lane.gap_end = begin + lane.gaps[lane.gap].end;
    lane.wake = lane.position;
  }

  /// Places the next piece of the lane, or lets it sleep until the next release, or moves it to its next gap.
  void advance(lane_state& lane, ticks begin) {
    lane.position = lane.wake;
    if (lane.position >= lane.gap_end) {
      ++lane.gap;
      enter_gap(lane, begin);
      return;
    }
    release_until(lane, lane.position, begin);
    const choice next = choose(lane);
    if (next.live == nullptr) {
      lane.wake = std::min(next_release(lane, begin), lane.gap_end);
      return;
    }
    place(lane, next);
  }

  [[nodiscard]] ticks next_release(lane_state& lane, ticks begin) const {
    while (lane.release < lane.releases.size() &&
           parts_[static_cast<std::size_t>(lane.releases[lane.release].part)].fresh(step_) < 0)
      ++lane.release;
    ticks at = lane.release < lane.releases.size() ? begin + lane.releases[lane.release].at : never;
    if (!lane.arrivals.empty()) at = std::min(at, lane.arrivals.front().at);
    return std::max(at, lane.position);
  }

  void release_until(lane_state& lane, ticks now, ticks begin) {
    for (; lane.release < lane.releases.size() && begin + lane.releases[lane.release].at <= now; ++lane.release) {
      part_state& part = parts_[static_cast<std::size_t>(lane.releases[lane.release].part)];
      if (const std::int32_t f = part.fresh(step_); f >= 0) release(lane, part, f, part.division);
    }
    std::size_t arrived = 0;
    for (; arrived < lane.arrivals.size() && lane.arrivals[arrived].at <= now; ++arrived) {
      part_state& part = parts_[static_cast<std::size_t>(lane.arrivals[arrived].part)];
      release(lane, part, lane.arrivals[arrived].flight, part.pieces);
    }
    if (arrived > 0)
      lane.arrivals.erase(lane.arrivals.begin(), lane.arrivals.begin() + static_cast<std::ptrdiff_t>(arrived));
  }

  static void release(lane_state& lane, part_state& part, std::int32_t f, std::int32_t count) {
    part.progress[f].released += count;
    for (live_step& live : lane.live)
      if (live.step == part.progress[f].step) live.insert(part.rank);
  }

  [[nodiscard]] choice choose(lane_state& lane) {
    const ticks room = lane.gap_end - lane.position;
    if constexpr (ranks_work<Policy>) {
      std::size_t from = 0;
      if (lane.longest_first && room < lane.room.front())
        from = static_cast<std::size_t>(std::lower_bound(lane.room.begin(), lane.room.end(), room,
                                                         [](ticks need, ticks have) { return need > have; }) -
                                        lane.room.begin());
      choice best;
      for (live_step& live : lane.live) {
        if (live.last_ready < static_cast<std::int64_t>(from)) continue;
        std::size_t rank = live.ready.first_from(from);
        while (rank != ready_set::none && lane.room[rank] > room) rank = live.ready.first_from(rank + 1);
        if (rank == ready_set::none || (best.live != nullptr && best.rank <= rank)) continue;
        best = {&live, rank};
        if (Policy::age == age_rule::oldest_first) break;
      }
      return best;
    } else {
      ready_.clear();
      choices_.clear();
      for (live_step& live : lane.live)
        for (std::size_t rank = live.ready.first_from(0); rank != ready_set::none;
             rank = live.ready.first_from(rank + 1))
          if (lane.room[rank] <= room) {
            ready_.push_back({&batch_of(parts_[lane.first_part + rank]), live.step});
            choices_.push_back({&live, rank});
          }
      std::ptrdiff_t chosen = -1;
      if (!ready_.empty())
        chosen = policy_.choose(bubble{lane.lane, {lane.position, lane.gap_end}}, std::span<const ready_work>(ready_));
      return chosen < 0 ? choice{} : choices_[static_cast<std::size_t>(chosen)];
    }
  }

  void place(lane_state& lane, const choice& next) {
    part_state& part = parts_[lane.first_part + next.rank];
    if (next.rank + ahead < lane.room.size())
      prefetch(units_[static_cast<std::size_t>(parts_[lane.first_part + next.rank + ahead].unit)]);
    const std::int32_t f = part.progress[0].step == next.live->step && part.progress[0].pending > 0 ? 0 : 1;
    part_progress& done = part.progress[f];
    const std::int32_t piece = part.pieces - done.pending;
    const interval time{lane.position, lane.position + part.duration};
    placed_.push_back({part.batch, piece, step_, next.live->step, time});
    --done.pending;
    if (piece + 1 == done.released) next.live->erase(part.rank);
    --next.live->unfinished;
    lane.backlog -= part.duration;
    lane.position = lane.wake = time.end;
    if (done.pending == 0) finish(part, f, time.end);
  }

  /// The last piece of a batch is placed.
  void finish(const part_state& part, std::int32_t f, ticks end) {
    unit_state& unit = units_[static_cast<std::size_t>(part.unit)];
    --unit.flight[f].unfinished;
    if (part.signals < 0) return;
    gate_state& gate = gates_[gate_at(unit, f, part.signals)];
    gate.latest = std::max(gate.latest, end);
    if (--gate.unfinished == 0) open_gate(unit, f, part.signals, gate.latest);
  }

  void open_gate(const unit_state& unit, std::int32_t f, std::int32_t gate, ticks at) {
    for (std::size_t i = unit.first_part; i < unit.first_part + unit.parts; ++i) {
      const part_state& part = parts_[static_cast<std::size_t>(unit_parts_[i])];
      if (batch_of(part).waits != gate) continue;
      lane_state& lane = lanes_[static_cast<std::size_t>(part.lane)];
      const arrival a{at + batch_of(part).delay, unit_parts_[i], f};
      const auto later = std::upper_bound(lane.arrivals.begin(), lane.arrivals.end(), a,
                                          [](const arrival& x, const arrival& y) { return x.at < y.at; });
      lane.arrivals.insert(later, a);
      if (lane.wake == never) continue;
      lane.wake = std::min(lane.wake, std::max(lane.position, a.at));
      furthest_behind_.set(static_cast<std::size_t>(part.lane), lane.wake);
    }
  }

  const work_set& work_;
  const bubble_set& bubbles_;
  const fill_group& group_;
  const Policy& policy_;
  ticks margin_permille_;
  earliest furthest_behind_;  ///< of the lanes
  std::vector<lane_state> lanes_;
  std::vector<part_state> parts_;  ///< lane by lane, by rank
  std::vector<unit_state> units_;
  std::vector<std::int32_t> unit_parts_;  ///< parts of the units, unit by unit
  std::vector<gate_state> gates_;         ///< unit by unit, flight by flight
  std::vector<run_piece> placed_;
  std::vector<ready_work> ready_;
  std::vector<choice> choices_;
  std::int32_t step_ = 0;
};

}  // namespace brim::detail
