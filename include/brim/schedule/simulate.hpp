// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/model/concepts.hpp>
#include <brim/model/costs.hpp>
#include <brim/schedule/deadlock.hpp>
#include <brim/schedule/timeline.hpp>
#include <brim/scheme/make_order.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace brim {
namespace detail {

/// Runs every device as far as its inputs allow, and wakes a device when the input that it waits for arrives. Each
/// visit of a device executes at least one action, so the whole is linear.
template <cost_model Costs>
class simulation {
 public:
  constexpr simulation(order program, const Costs& costs)
      : costs_(costs),
        stages_(program.where.stages),
        microbatches_(program.shape.microbatches),
        devices_(program.shape.devices),
        result_{.program = std::move(program), .transfers = {}, .times = {}} {}

  constexpr timeline run() {
    prepare();
    while (queued_ > 0) run_device(pop());
    check_complete();
    return std::move(result_);
  }

 private:
  static constexpr ticks not_arrived = -1;
  static constexpr ticks used_up = -2;
  static constexpr std::size_t no_slot = static_cast<std::size_t>(-1);

  [[nodiscard]] constexpr std::size_t slot(std::int32_t stage, std::int32_t microbatch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(microbatches_) + static_cast<std::size_t>(microbatch);
  }

  constexpr void prepare() {
    const order& program = result_.program;
    const auto cells = static_cast<std::size_t>(stages_) * static_cast<std::size_t>(microbatches_);
    activation_.assign(cells, not_arrived);
    gradient_.assign(cells, not_arrived);
    for (std::int32_t m = 0; m < microbatches_; ++m) activation_[slot(0, m)] = 0;
    result_.times.resize(program.actions.size());
    for (std::int32_t s = 0; s + 1 < stages_; ++s) {
      result_.transfers.push_back(costs_.transfer(stage_index(s)));
      longest_ = std::max(longest_, result_.transfers.back());
    }
    next_.assign(program.offsets.begin(), program.offsets.end() - 1);
    free_.assign(next_.size(), 0);
    waits_for_.assign(next_.size(), no_slot);
    queue_.resize(next_.size());
    for (const device_index d : devices(program.shape)) push(d);
  }

  constexpr void push(device_index d) {
    std::size_t at = head_ + queued_++;
    if (at >= queue_.size()) at -= queue_.size();
    queue_[at] = d;
  }
  constexpr device_index pop() {
    const device_index d = queue_[head_];
    if (++head_ == queue_.size()) head_ = 0;
    --queued_;
    return d;
  }

  constexpr void run_device(device_index d) {
    const std::size_t end = result_.program.offsets[d.at() + 1];
    ticks free = free_[d.at()];
    std::size_t i = next_[d.at()];
    for (; i < end; ++i) {
      const action& a = result_.program.actions[i];
      check_cell(a, d);
      const std::size_t cell = slot(a.stage.value, a.microbatch.value);
      ticks ready = 0;
      if (a.kind == action_kind::forward) {
        ready = activation_[cell];
        if (ready == not_arrived) {
          waits_for_[d.at()] = cell;
          break;
        }
      } else if (a.kind == action_kind::backward || a.kind == action_kind::backward_input) {
        ready = gradient_[cell];
        if (ready == not_arrived) {
          waits_for_[d.at()] = cell + activation_.size();
          break;
        }
      }
      if (ready == used_up) raise_bad_order(result_.program, d, a, "it stands twice in the order");
      const ticks start = std::max(free, ready);
      const ticks cost = costs_.duration(a, d);
      longest_ = std::max(longest_, cost);
      free = start + cost;
      result_.times[i] = {start, free};
      finish(a, d, cell, free);
    }
    next_[d.at()] = i;
    free_[d.at()] = free;
  }

  /// Marks the action's cell as used and hands its result to the next stage.
  constexpr void finish(const action& a, device_index d, std::size_t cell, ticks end) {
    switch (a.kind) {
      case action_kind::forward:
        activation_[cell] = used_up;
        ++forwards_;
        if (a.stage.value + 1 == stages_)
          gradient_[cell] = end;
        else
          deliver(activation_, a, d, 1, end);
        break;
      case action_kind::backward:
        ++backwards_;
        gradient_[cell] = used_up;
        if (a.stage.value > 0) deliver(gradient_, a, d, -1, end);
        break;
      case action_kind::backward_input:
        ++halves_;
        gradient_[cell] = used_up;
        if (weight_due_.empty()) weight_due_.assign(gradient_.size(), false);
        weight_due_[cell] = true;
        if (a.stage.value > 0) deliver(gradient_, a, d, -1, end);
        break;
      default:
        if (weight_due_.empty() || !weight_due_[cell])
          raise_bad_order(result_.program, d, a, "it does not follow the backward_input that it belongs to");
        weight_due_[cell] = false;
        ++weights_;
    }
  }

  constexpr void deliver(std::vector<ticks>& inbox, const action& a, device_index from, std::int32_t direction, ticks end) {
    const std::int32_t stage = a.stage.value + direction;
    const device_index to = result_.program.where.device_of(a.route, stage_index(stage));
    const std::size_t cell = slot(stage, a.microbatch.value);
    const auto boundary = static_cast<std::size_t>(direction > 0 ? a.stage.value : stage);
    inbox[cell] = to == from ? end : end + result_.transfers[boundary];
    const std::size_t key = &inbox == &activation_ ? cell : cell + activation_.size();
    if (waits_for_[to.at()] == key) {
      waits_for_[to.at()] = no_slot;
      push(to);
    }
  }

  constexpr void check_cell(const action& a, device_index d) const {
    const order& program = result_.program;
    const char* fault = nullptr;
    if (a.kind > action_kind::backward_weight)
      fault = "an order holds only forwards and backwards";
    else if (a.stage.value < 0 || a.stage.value >= stages_)
      fault = "there is no such stage";
    else if (a.microbatch.value < 0 || a.microbatch.value >= microbatches_)
      fault = "there is no such microbatch";
    else if (a.route.value < 0 || a.route.value >= program.where.routes)
      fault = "there is no such route";
    else if (program.where.routes > 1 && program.where.route_of(a.microbatch) != a.route)
      fault = "the microbatch takes another route";
    else if (program.where.device_of(a.route, a.stage) != d)
      fault = "another device holds this stage";
    if (fault != nullptr) raise_bad_order(program, d, a, fault);
  }

  constexpr void check_complete() const {
    const order& program = result_.program;
    for (const device_index d : devices(program.shape))
      if (next_[d.at()] != program.offsets[d.at() + 1]) raise_deadlock(program, next_);
    const std::int64_t cells = std::int64_t{stages_} * microbatches_;
    if (forwards_ != cells) raise_incomplete_order(program, forwards_, cells, "forwards");
    if (backwards_ + halves_ != cells) raise_incomplete_order(program, backwards_ + halves_, cells, "backwards");
    if (weights_ != halves_) raise_incomplete_order(program, weights_, halves_, "backward_weights");
    if (longest_ > longest_schedule / std::max<std::int64_t>(1, 4 * cells)) raise_too_long(program);
  }

  const Costs& costs_;
  std::int32_t stages_, microbatches_, devices_;
  timeline result_;
  std::vector<ticks> activation_, gradient_;  ///< arrival of the input of (stage, microbatch)
  std::vector<bool> weight_due_;              ///< (stage, microbatch) whose weight half is still to come
  std::vector<std::size_t> next_;             ///< next action of a device
  std::vector<ticks> free_;                   ///< end of the last action of a device
  std::vector<std::size_t> waits_for_;        ///< the cell that a stopped device waits for; gradients after activations
  std::vector<device_index> queue_;           ///< ring of devices that can run; each is in it at most once
  std::size_t head_ = 0, queued_ = 0;
  std::int64_t forwards_ = 0, backwards_ = 0, halves_ = 0, weights_ = 0;
  ticks longest_ = 0;
};

}  // namespace detail

/// The exact as-soon-as-possible timeline of an order: each action starts when its device is free and its input has
/// arrived. Complexity: linear in the actions; memory 32 bytes an action plus 16 bytes a (stage, microbatch).
///
/// Errors: `bad_order` (an action twice, missing, or on the wrong device), `deadlock` (with the grid and the stuck cells),
/// `bad_profile` (durations that overflow, or a profile that does not fit the placement).
template <class Costs>
[[nodiscard]] constexpr timeline simulate(order program, const Costs& costs) {
  if constexpr (check_cost_model<Costs>()) {
    const placement where = program.where;
    return with_prepared(costs, where, [&](const auto& prepared) {
      return detail::simulation<std::remove_cvref_t<decltype(prepared)>>(std::move(program), prepared).run();
    });
  }
}

/// The timeline of a scheme: `make_order`, then `simulate`. Errors: those of both.
template <class Scheme, class Costs>
  requires(!std::same_as<Scheme, order>)
[[nodiscard]] constexpr timeline simulate(const Scheme& scheme, const pipeline_shape& shape, const Costs& costs) {
  return simulate(make_order(scheme, shape), costs);
}

}  // namespace brim
