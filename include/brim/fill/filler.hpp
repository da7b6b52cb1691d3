// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/concepts.hpp>
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
  /// Pieces of a unit that two refreshes may have in flight at once.
  static constexpr std::int32_t flights = 2;

  filler(const work_set& work, const bubble_set& bubbles, const fill_group& group, const Policy& policy, ticks margin_permille)
      : work_(work), bubbles_(bubbles), group_(group), policy_(policy), margin_permille_(margin_permille) {
    batch_at_.assign(work.batches.size(), {});
    unit_at_.assign(work.units.size(), -1);
    for (std::size_t u = 0; u < group.units.size(); ++u) unit_at_[static_cast<std::size_t>(group.units[u])] = static_cast<std::int32_t>(u);
    for (const std::int32_t lane : group.lanes) add_lane(lane);
    flight_.assign(group.units.size() * flights, {});
    progress_.assign(work.batches.size() * flights, {});
    std::size_t gates = 0;
    for (const std::int32_t u : group.units) {
      first_gate_.push_back(gates);
      gates += static_cast<std::size_t>(work.units[static_cast<std::size_t>(u)].gates) * flights;
      unit_work_.push_back(work_of(u));
    }
    gates_.assign(gates, {});
  }

  /// Starts a refresh of these units (positions in the group) with the statistics of the coming step, then fills the
  /// step. A unit with two refreshes in flight cannot be started: `false` is returned and nothing has changed.
  bool run_step(std::span<const std::int32_t> started) {
    for (const std::int32_t u : started)
      if (in_flight(u) >= flights) return false;
    for (const std::int32_t u : started) start(u);
    const ticks begin = step_ * bubbles_.step_length;
    for (lane_state& lane : lanes_) {
      lane.gap = 0;
      lane.release = 0;
      enter_gap(lane, begin);
    }
    for (lane_state* lane = furthest_behind(); lane != nullptr; lane = furthest_behind()) advance(*lane, begin);
    for (lane_state& lane : lanes_) release_until(lane, begin + bubbles_.step_length, begin);
    for (lane_state& lane : lanes_) std::erase_if(lane.live, [](const live_step& live) { return live.unfinished == 0; });
    ++step_;
    return true;
  }

  [[nodiscard]] std::int32_t step() const { return step_; }
  [[nodiscard]] ticks backlog() const { return backlog_; }
  [[nodiscard]] ticks work_of_unit(std::int32_t u) const { return unit_work_[static_cast<std::size_t>(u)]; }
  [[nodiscard]] std::int32_t in_flight(std::int32_t u) const {
    std::int32_t count = 0;
    for (std::int32_t f = 0; f < flights; ++f) count += flight(u, f).remaining > 0 ? 1 : 0;
    return count;
  }
  /// Released or awaited pieces of a batch, over all refreshes in flight.
  [[nodiscard]] std::int64_t pending(std::int32_t batch) const {
    std::int64_t sum = 0;
    for (std::int32_t f = 0; f < flights; ++f) sum += progress(batch, f).pending;
    return sum;
  }
  [[nodiscard]] std::vector<run_piece>& placed() { return placed_; }

  /// Everything that decides what happens next, relative to the coming step. Equal states have equal futures.
  [[nodiscard]] std::vector<std::int64_t> state() const {
    std::vector<std::int64_t> out;
    const ticks begin = step_ * bubbles_.step_length;
    for (std::size_t u = 0; u < group_.units.size(); ++u) {
      std::int32_t order[flights] = {0, 1};
      if (flight_[u * flights].step > flight_[u * flights + 1].step) std::swap(order[0], order[1]);
      for (const std::int32_t f : order) {
        const flight_state& unit = flight(static_cast<std::int32_t>(u), f);
        if (unit.remaining == 0) continue;
        out.push_back(static_cast<std::int64_t>(u));
        out.push_back(unit.step - step_);
        const work_unit& what = unit_of(static_cast<std::int32_t>(u));
        for (std::uint32_t b = what.first_batch; b < what.first_batch + what.batch_count; ++b) {
          const batch_progress& p = progress(static_cast<std::int32_t>(b), f);
          out.push_back((std::int64_t{p.released} << 32) | static_cast<std::int64_t>(p.pending));
        }
        for (std::int32_t g = 0; g < what.gates; ++g) {
          const gate_state& gate = gates_[gate_at(static_cast<std::int32_t>(u), f, g)];
          out.push_back(gate.remaining);
          out.push_back(std::max<ticks>(gate.latest - begin, 0));
        }
      }
    }
    for (const lane_state& lane : lanes_)
      for (const arrival& a : lane.arrivals) {
        out.push_back(a.at - begin);
        out.push_back(a.batch);
      }
    return out;
  }

 private:
  static constexpr ticks never = longest_schedule;

  struct flight_state {
    std::int32_t step = -1;  ///< statistics step
    std::int64_t remaining = 0;
  };
  struct batch_progress {
    std::int32_t released = 0;
    std::int32_t pending = 0;  ///< not yet placed, released or not
  };
  struct gate_state {
    std::int64_t remaining = 0;
    ticks latest = 0;
  };
  struct arrival {  ///< a gate has opened: the batch is released at that time
    ticks at;
    std::int32_t batch;
    std::int32_t flight;
  };
  struct live_step {
    std::int32_t step;
    std::int64_t unfinished;
    ready_set ready;
  };
  struct timed_release {
    ticks at;
    std::int32_t batch;
  };
  struct lane_state {
    std::int32_t lane;
    std::span<const interval> gaps;
    std::vector<std::int32_t> batches;     ///< of this lane, by rank
    std::vector<ticks> room;               ///< what a piece of that rank needs, margin included
    bool longest_first = false;            ///< rooms fall with rank, so the first that fits is found by bisection
    std::vector<timed_release> releases;   ///< of one step, by time
    std::vector<live_step> live;           ///< oldest first
    std::vector<arrival> arrivals;         ///< of batches that a gate has released, by time
    std::size_t gap = 0;
    std::size_t release = 0;
    ticks position = 0;                    ///< nothing before this moment can be used any more
    ticks gap_end = 0;
    ticks wake = never;                    ///< the next moment at which something may happen on the lane
  };
  struct choice {
    live_step* live = nullptr;
    std::size_t rank = 0;
  };

  [[nodiscard]] const work_unit& unit_of(std::int32_t u) const {
    return work_.units[static_cast<std::size_t>(group_.units[static_cast<std::size_t>(u)])];
  }
  [[nodiscard]] const work_batch& batch_of(std::int32_t b) const { return work_.batches[static_cast<std::size_t>(b)]; }
  [[nodiscard]] flight_state& flight(std::int32_t u, std::int32_t f) { return flight_[static_cast<std::size_t>(u * flights + f)]; }
  [[nodiscard]] const flight_state& flight(std::int32_t u, std::int32_t f) const { return flight_[static_cast<std::size_t>(u * flights + f)]; }
  [[nodiscard]] batch_progress& progress(std::int32_t b, std::int32_t f) { return progress_[static_cast<std::size_t>(b * flights + f)]; }
  [[nodiscard]] const batch_progress& progress(std::int32_t b, std::int32_t f) const { return progress_[static_cast<std::size_t>(b * flights + f)]; }
  [[nodiscard]] std::size_t gate_at(std::int32_t u, std::int32_t f, std::int32_t g) const {
    return first_gate_[static_cast<std::size_t>(u)] + static_cast<std::size_t>(f * unit_of(u).gates + g);
  }

  [[nodiscard]] ticks work_of(std::int32_t u) const {
    const work_unit& unit = work_.units[static_cast<std::size_t>(u)];
    ticks sum = 0;
    for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b)
      sum += work_.batches[b].duration * work_.batches[b].pieces;
    return sum;
  }

  void add_lane(std::int32_t lane) {
    lane_state state{.lane = lane, .gaps = bubbles_.of(lane)};
    for (std::size_t u = 0; u < group_.units.size(); ++u) {
      const work_unit& unit = unit_of(static_cast<std::int32_t>(u));
      for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b) {
        const work_batch& batch = work_.batches[b];
        if (batch.lane != lane) continue;
        state.batches.push_back(static_cast<std::int32_t>(b));
        for (std::uint32_t r = batch.first_release; r < batch.first_release + batch.release_count; ++r)
          state.releases.push_back({work_.releases[r].at, static_cast<std::int32_t>(b)});
      }
    }
    std::stable_sort(state.releases.begin(), state.releases.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    if constexpr (ranks_work<Policy>)
      std::stable_sort(state.batches.begin(), state.batches.end(),
                       [&](std::int32_t a, std::int32_t b) { return policy_.before(batch_of(a), batch_of(b)); });
    for (std::size_t rank = 0; rank < state.batches.size(); ++rank) {
      batch_at_[static_cast<std::size_t>(state.batches[rank])] = {lanes_.size(), rank};
      state.room.push_back(with_margin(batch_of(state.batches[rank]).duration));
    }
    state.longest_first = std::is_sorted(state.room.rbegin(), state.room.rend());
    lanes_.push_back(std::move(state));
  }

  [[nodiscard]] ticks with_margin(ticks duration) const { return duration + duration * margin_permille_ / 1000; }

  void start(std::int32_t u) {
    const std::int32_t f = flight(u, 0).remaining == 0 ? 0 : 1;
    const work_unit& unit = unit_of(u);
    flight(u, f) = {step_, 0};
    for (std::int32_t g = 0; g < unit.gates; ++g) gates_[gate_at(u, f, g)] = {};
    for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b) {
      const work_batch& batch = work_.batches[b];
      progress(static_cast<std::int32_t>(b), f) = {0, batch.pieces};
      flight(u, f).remaining += batch.pieces;
      if (batch.signals >= 0) gates_[gate_at(u, f, batch.signals)].remaining += batch.pieces;
      lane_state& lane = lanes_[batch_at_[b].lane];
      if (lane.live.empty() || lane.live.back().step != step_)
        lane.live.push_back({step_, 0, ready_set(lane.batches.size())});
      lane.live.back().unfinished += batch.pieces;
    }
    backlog_ += unit_work_[static_cast<std::size_t>(u)];
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

  [[nodiscard]] lane_state* furthest_behind() {
    lane_state* best = nullptr;
    for (lane_state& lane : lanes_)
      if (lane.wake != never && (best == nullptr || lane.wake < best->wake)) best = &lane;
    return best;
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

  [[nodiscard]] ticks next_release(const lane_state& lane, ticks begin) const {
    ticks at = lane.release < lane.releases.size() ? begin + lane.releases[lane.release].at : never;
    if (!lane.arrivals.empty()) at = std::min(at, lane.arrivals.front().at);
    return std::max(at, lane.position);
  }

  void release_until(lane_state& lane, ticks now, ticks begin) {
    for (; lane.release < lane.releases.size() && begin + lane.releases[lane.release].at <= now; ++lane.release) {
      const std::int32_t b = lane.releases[lane.release].batch;
      const std::int32_t f = flight_of_step(b, step_);
      if (f >= 0) release(lane, b, f, batch_of(b).division);
    }
    std::size_t arrived = 0;
    for (; arrived < lane.arrivals.size() && lane.arrivals[arrived].at <= now; ++arrived)
      release(lane, lane.arrivals[arrived].batch, lane.arrivals[arrived].flight, batch_of(lane.arrivals[arrived].batch).pieces);
    if (arrived > 0) lane.arrivals.erase(lane.arrivals.begin(), lane.arrivals.begin() + static_cast<std::ptrdiff_t>(arrived));
  }

  [[nodiscard]] std::int32_t flight_of_step(std::int32_t b, std::int32_t step) const {
    const std::int32_t u = position_of_unit(batch_of(b).unit);
    for (std::int32_t f = 0; f < flights; ++f)
      if (flight(u, f).step == step && flight(u, f).remaining > 0) return f;
    return -1;
  }

  [[nodiscard]] std::int32_t position_of_unit(std::int32_t unit) const {
    return unit_at_[static_cast<std::size_t>(unit)];
  }

  void release(lane_state& lane, std::int32_t b, std::int32_t f, std::int32_t count) {
    progress(b, f).released += count;
    const std::int32_t step = flight(position_of_unit(batch_of(b).unit), f).step;
    for (live_step& live : lane.live)
      if (live.step == step) live.ready.insert(batch_at_[static_cast<std::size_t>(b)].rank);
  }

  [[nodiscard]] choice choose(lane_state& lane) {
    const ticks room = lane.gap_end - lane.position;
    if constexpr (ranks_work<Policy>) {
      std::size_t from = 0;
      if (lane.longest_first)
        from = static_cast<std::size_t>(std::lower_bound(lane.room.begin(), lane.room.end(), room,
                                                         [](ticks need, ticks have) { return need > have; }) -
                                        lane.room.begin());
      choice best;
      for (live_step& live : lane.live) {
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
        for (std::size_t rank = live.ready.first_from(0); rank != ready_set::none; rank = live.ready.first_from(rank + 1))
          if (lane.room[rank] <= room) {
            ready_.push_back({&batch_of(lane.batches[rank]), live.step});
            choices_.push_back({&live, rank});
          }
      const std::ptrdiff_t chosen =
          ready_.empty() ? -1
                         : policy_.choose(bubble{device_index(lane.lane), {lane.position, lane.gap_end}}, std::span<const ready_work>(ready_));
      return chosen < 0 ? choice{} : choices_[static_cast<std::size_t>(chosen)];
    }
  }

  void place(lane_state& lane, const choice& next) {
    const std::int32_t b = lane.batches[next.rank];
    const work_batch& batch = batch_of(b);
    const std::int32_t f = flight_of_step(b, next.live->step);
    const std::int32_t u = position_of_unit(batch.unit);
    batch_progress& done = progress(b, f);
    const std::int32_t piece = batch.pieces - done.pending;
    const interval time{lane.position, lane.position + batch.duration};
    placed_.push_back({b, piece, step_, next.live->step, time});
    --done.pending;
    if (piece + 1 == done.released) next.live->ready.erase(next.rank);
    --next.live->unfinished;
    --flight(u, f).remaining;
    backlog_ -= batch.duration;
    lane.position = lane.wake = time.end;
    if (batch.signals >= 0) {
      gate_state& gate = gates_[gate_at(u, f, batch.signals)];
      gate.latest = std::max(gate.latest, time.end);
      if (--gate.remaining == 0) open_gate(u, f, batch.signals, gate.latest);
    }
  }

  void open_gate(std::int32_t u, std::int32_t f, std::int32_t g, ticks at) {
    const work_unit& unit = unit_of(u);
    for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b) {
      if (work_.batches[b].waits != g) continue;
      lane_state& lane = lanes_[batch_at_[b].lane];
      const arrival a{at + work_.batches[b].delay, static_cast<std::int32_t>(b), f};
      const auto later = std::upper_bound(lane.arrivals.begin(), lane.arrivals.end(), a, [](const arrival& x, const arrival& y) { return x.at < y.at; });
      lane.arrivals.insert(later, a);
      if (lane.wake != never) lane.wake = std::min(lane.wake, std::max(lane.position, a.at));
    }
  }

  struct batch_place {
    std::size_t lane = 0;  ///< position in `lanes_`
    std::size_t rank = 0;
  };

  const work_set& work_;
  const bubble_set& bubbles_;
  const fill_group& group_;
  const Policy& policy_;
  ticks margin_permille_;
  std::vector<lane_state> lanes_;
  std::vector<batch_place> batch_at_;
  std::vector<std::int32_t> unit_at_;  ///< position in the group; −1 for units of other groups
  std::vector<flight_state> flight_;
  std::vector<batch_progress> progress_;
  std::vector<std::size_t> first_gate_;
  std::vector<gate_state> gates_;
  std::vector<ticks> unit_work_;
  std::vector<run_piece> placed_;
  std::vector<ready_work> ready_;
  std::vector<choice> choices_;
  std::int32_t step_ = 0;
  ticks backlog_ = 0;
};

}  // namespace brim::detail
