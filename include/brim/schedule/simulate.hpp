// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/model/concepts.hpp>
#include <brim/model/costs.hpp>
#include <brim/schedule/deadlock.hpp>
#include <brim/schedule/timeline.hpp>
#include <brim/scheme/make_order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace brim {
namespace detail {

/// Runs every device as far as its inputs allow, and wakes a device when the input that it waits for arrives. Every
/// visit of a device executes an action or answers an arrival, so the whole is linear.
template <cost_model Costs>
class simulation {
 public:
  /// Fills the transfers and times of `result`, whose program is given.
  constexpr simulation(timeline& result, const Costs& costs)
      : result_(result),
        costs_(costs),
        stages_(result.program.where.stages),
        microbatches_(result.program.shape.microbatches),
        routes_(result.program.where.routes),
        row_(static_cast<std::size_t>(microbatches_)) {}

  constexpr void run() {
    check_layout(result_.program);
    prepare();
    while (!ready_.empty()) {
      const device_index d = ready_.back();
      ready_.pop_back();
      run_device(d);
    }
    check_complete();
  }

 private:
  /// A cell, that is one microbatch on one stage, goes through: `empty`, arrival of its activation, `forward_done`, arrival
  /// of its gradient, (`weight_due`,) `finished`. An arrival is stored as 2 × time, plus 1 for a gradient.
  static constexpr ticks empty = -1, forward_done = -2, weight_due = -3, finished = -4;
  static constexpr std::size_t no_cell = static_cast<std::size_t>(-1);

  struct device_state {
    std::size_t next = 0, end = 0;    ///< positions in the order
    ticks free = 0;                   ///< end of the last action
    std::size_t waits_for = no_cell;  ///< where it has stopped
  };
  /// A stage of a route: who holds it and its neighbours, and how long results travel to those.
  struct station {
    device_index holder{-1}, next{-1}, previous{-1};
    ticks to_next = 0, to_previous = 0;
  };

  constexpr void prepare() {
    const order& program = result_.program;
    const std::int64_t cells = std::int64_t{stages_} * microbatches_;
    greatest_cost_ = static_cast<std::uint64_t>(longest_schedule /
                                                (5 * cells));  // no path has more than 3 actions and 2 transfers a cell
    result_.times.resize(program.actions.size());
    result_.transfers.clear();
    for (std::int32_t s = 0; s + 1 < stages_; ++s)
      result_.transfers.push_back(checked(costs_.transfer(stage_index(s))));
    for (std::int32_t r = 0; r < routes_; ++r)
      for (std::int32_t s = 0; s < stages_; ++s) stations_.push_back(make_station(route_index(r), s));
    cells_.assign(static_cast<std::size_t>(cells), empty);
    std::fill_n(cells_.begin(), microbatches_, ticks{0});  // the first stage waits for nobody
    for (const device_index d : devices(program.shape)) {
      devices_.push_back({.next = program.offsets[d.at()], .end = program.offsets[d.at() + 1]});
      ready_.emplace_back(program.shape.devices - 1 - d.value);
    }
  }

  [[nodiscard]] constexpr station make_station(route_index r, std::int32_t s) const {
    const placement& where = result_.program.where;
    station made{.holder = where.device_of(r, stage_index(s))};
    if (s + 1 < stages_) {
      made.next = where.device_of(r, stage_index(s + 1));
      if (made.next != made.holder) made.to_next = result_.transfers[static_cast<std::size_t>(s)];
    }
    if (s > 0) {
      made.previous = where.device_of(r, stage_index(s - 1));
      if (made.previous != made.holder) made.to_previous = result_.transfers[static_cast<std::size_t>(s - 1)];
    }
    return made;
  }

  constexpr void run_device(device_index d) {
    device_state& me = devices_[d.at()];
    ticks free = me.free;
    std::size_t i = me.next;
    for (; i < me.end; ++i) {
      const action& a = result_.program.actions[i];
      check_action(a, d);
      const std::size_t cell = a.stage.at() * row_ + a.microbatch.at();
      const bool ran = a.kind == action_kind::forward    ? run_forward(a, d, cell, free, result_.times[i])
                       : a.kind == action_kind::backward ? run_backward(a, d, cell, free, result_.times[i])
                                                         : run_half(a, d, cell, free, result_.times[i]);
      if (!ran) {
        me.waits_for = cell;
        break;
      }
    }
    me.next = i;
    me.free = free;
  }

  /// These three start the action when the device is `free` and its input has arrived, move its cell on and hand its
  /// result to the next stage; or answer false where there is no input yet.
  constexpr bool run_forward(const action& a, device_index d, std::size_t cell, ticks& free, interval& time) {
    const ticks input = cells_[cell];
    if (input < 0 || input % 2 != 0) {
      if (input != empty) raise_twice(a, d);
      return false;
    }
    time.start = std::max(free, input / 2);
    time.end = free = time.start + checked(costs_.duration(a, d));
    cells_[cell] = forward_done;
    const station& here = station_of(a);
    if (a.stage.value + 1 < stages_)
      deliver(cell + row_, here.next, 2 * (free + here.to_next));
    else
      cells_[cell] = 2 * free + 1;
    return true;
  }
  constexpr bool run_backward(const action& a, device_index d, std::size_t cell, ticks& free, interval& time) {
    const ticks input = cells_[cell];
    if (input < 0 || input % 2 == 0) {
      if (input <= weight_due) raise_twice(a, d);
      return false;
    }
    time.start = std::max(free, input / 2);
    time.end = free = time.start + checked(costs_.duration(a, d));
    if (a.kind == action_kind::backward) {
      cells_[cell] = finished;
      ++finished_;
    } else {
      cells_[cell] = weight_due;
    }
    const station& here = station_of(a);
    if (a.stage.value > 0) deliver(cell - row_, here.previous, 2 * (free + here.to_previous) + 1);
    return true;
  }
  constexpr bool run_half(const action& a, device_index d, std::size_t cell, ticks& free, interval& time) {
    if (a.kind == action_kind::backward_input) return run_backward(a, d, cell, free, time);
    if (cells_[cell] != weight_due)
      raise_bad_order(result_.program, d, a, "it does not follow the backward_input that it belongs to");
    time.start = free;
    time.end = free = free + checked(costs_.duration(a, d));
    cells_[cell] = finished;
    ++finished_;
    return true;
  }
  [[noreturn]] constexpr void raise_twice(const action& a, device_index d) const {
    raise_bad_order(result_.program, d, a, "it stands twice in the order");
  }
  [[nodiscard]] constexpr const station& station_of(const action& a) const {
    return stations_[a.route.at() * static_cast<std::size_t>(stages_) + a.stage.at()];
  }

  constexpr void deliver(std::size_t cell, device_index to, ticks arrival) {
    cells_[cell] = arrival;
    device_state& receiver = devices_[to.at()];
    if (receiver.waits_for == cell) {
      receiver.waits_for = no_cell;
      ready_.push_back(to);
    }
  }

  [[nodiscard]] constexpr ticks checked(ticks cost) const {
    if (static_cast<std::uint64_t>(cost) > greatest_cost_) raise_bad_cost(result_.program, cost);
    return cost;
  }

  constexpr void check_action(const action& a, device_index d) const {
    const auto outside = [](std::int32_t value, std::int32_t count) {
      return static_cast<std::uint32_t>(value) >= static_cast<std::uint32_t>(count);
    };
    const char* fault = nullptr;
    if (a.kind > action_kind::backward_weight)
      fault = "an order holds only forwards and backwards";
    else if (outside(a.stage.value, stages_))
      fault = "there is no such stage";
    else if (outside(a.microbatch.value, microbatches_))
      fault = "there is no such microbatch";
    else if (outside(a.route.value, routes_))
      fault = "there is no such route";
    else if (routes_ > 1 && result_.program.where.route_of(a.microbatch) != a.route)
      fault = "the microbatch takes another route";
    else if (station_of(a).holder != d)
      fault = "another device holds this stage";
    if (fault != nullptr) raise_bad_order(result_.program, d, a, fault);
  }

  constexpr void check_complete() const {
    for (const device_state& d : devices_)
      if (d.next != d.end) raise_deadlock();
    if (finished_ != static_cast<std::int64_t>(cells_.size())) raise_incomplete_order(result_.program);
  }

  [[noreturn]] void raise_deadlock() const {
    std::vector<std::size_t> next;
    next.reserve(devices_.size());
    for (const device_state& d : devices_) next.push_back(d.next);
    detail::raise_deadlock(result_.program, next);
  }

  timeline& result_;
  const Costs& costs_;
  std::int32_t stages_, microbatches_, routes_;
  std::size_t row_;  ///< cells of one stage
  std::uint64_t greatest_cost_ = 0;
  std::vector<ticks> cells_;       ///< state of (stage, microbatch)
  std::vector<station> stations_;  ///< of (route, stage)
  std::vector<device_state> devices_;
  std::vector<device_index> ready_;  ///< devices that can run, the next one last; each is in it at most once
  std::int64_t finished_ = 0;        ///< cells that are `finished`
};

}  // namespace detail

/// Simulates `out.program` anew, for instance after editing it, in the arrays that `out` already has. After an error the
/// times of `out` mean nothing.
template <class Costs>
constexpr void simulate_into(timeline& out, const Costs& costs) {
  if constexpr (check_cost_model<Costs>()) {
    with_prepared(costs, out.program.where, [&](const auto& prepared) {
      detail::simulation<std::remove_cvref_t<decltype(prepared)>>(out, prepared).run();
    });
  }
}

/// The exact as-soon-as-possible timeline of an order: each action starts when its device is free and its input has
/// arrived. Complexity: linear in the actions; memory 32 bytes an action plus 8 bytes a (stage, microbatch) for the while.
///
/// Errors: `bad_order` (an action twice, missing, or on the wrong device), `deadlock` (with the grid and the stuck cells),
/// `bad_profile` (a negative duration, durations that overflow, or a profile that does not fit the placement).
template <class Costs>
[[nodiscard]] constexpr timeline simulate(order program, const Costs& costs) {
  timeline result{.program = std::move(program), .transfers = {}, .times = {}};
  simulate_into(result, costs);
  return result;
}

/// The timeline of a scheme: `make_order`, then `simulate`. Errors: those of both.
template <class Scheme, class Costs>
  requires(!std::same_as<Scheme, order>)
[[nodiscard]] constexpr timeline simulate(const Scheme& scheme, const pipeline_shape& shape, const Costs& costs) {
  return simulate(make_order(scheme, shape), costs);
}

/// The same in the arrays that `out` already has, for loops over many shapes or costs: fresh memory costs about as much
/// as the work itself. After an error `out` means nothing.
template <class Scheme, class Costs>
constexpr void simulate_into(timeline& out, const Scheme& scheme, const pipeline_shape& shape, const Costs& costs) {
  make_order_into(out.program, scheme, shape);
  simulate_into(out, costs);
}

}  // namespace brim
