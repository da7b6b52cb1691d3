// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/order.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace brim::schemes {

/// The order of every device, made at once: what `prepare` of a scheme gives.
struct whole_order {
  std::vector<std::vector<action>> rows{};  ///< of each device

  constexpr void order(const pipeline_shape&, device_index device, auto& out) const {
    for (const action& a : rows[device.at()]) out.add(a);
  }
};

/// A stage of a route while an order is made slot by slot: how many of its microbatches, which pass in order, have come how far.
struct list_lane {
  route_index route{0};
  stage_index stage{0};
  std::int32_t activations = 0, gradients = 0;            ///< inputs that have arrived
  std::int32_t forwards = 0, backwards = 0, weights = 0;  ///< begun; `backwards` may be input halves
};

/// List scheduling of all devices in slots: whenever a device is free it begins the most urgent action whose input is there.
///
/// A `Rule` has `form`, whether backwards come in halves; `slots(kind)`, how long an action takes, at most `longest`; and
/// `urgency(kind, lane, lanes of the device)`: the least is the most urgent, a negative one must wait. The order cannot
/// deadlock: it is one of a schedule. Pre: the rule never makes all devices wait. Complexity: linear in actions × lanes of a
/// device.
template <class Rule>
class list_rule {
 public:
  constexpr list_rule(const pipeline_shape& step, const placement& where, Rule rule)
      : shape_(step),
        where_(where),
        rule_(std::move(rule)),
        first_(1, 0),
        at_(where.holders.size(), 0) {
    std::vector<std::int32_t> count(static_cast<std::size_t>(step.devices), 0);
    for (const device_index d : where.holders) ++count[d.at()];
    for (const std::int32_t n : count) first_.push_back(first_.back() + static_cast<std::size_t>(n));
    lanes_.resize(where.holders.size());
    std::vector<std::size_t> next = first_;
    for (std::int32_t r = 0; r < where.routes; ++r)
      for (std::int32_t s = 0; s < where.stages; ++s) {
        const std::size_t i = next[where.device_of(route_index(r), stage_index(s)).at()]++;
        at_[cell(route_index(r), s)] = i;
        lanes_[i] = {.route = route_index(r), .stage = stage_index(s)};
        if (s == 0) lanes_[i].activations = (step.microbatches - r + where.routes - 1) / where.routes;
      }
  }

  constexpr whole_order run() {
    whole_order made{.rows = std::vector<std::vector<action>>(static_cast<std::size_t>(shape_.devices))};
    // what ends in the next slots, round and round
    std::vector<std::vector<action>> ends(static_cast<std::size_t>(Rule::longest) + 1);
    awake_.assign(made.rows.size(), 1);
    for (const device_index d : devices(shape_)) turns_.push_back(d);
    std::vector<std::size_t> free(made.rows.size(), 0);
    std::size_t running = 0;
    for (std::size_t slot = 0; running > 0 || !turns_.empty(); ++slot) {
      std::vector<action>& now = ends[slot % ends.size()];
      running -= now.size();
      for (const action& a : now) end(a);
      now.clear();
      for (const device_index d : std::exchange(turns_, {})) {
        awake_[d.at()] = 0;
        if (free[d.at()] > slot) continue;
        const action a = begin(std::span(lanes_).subspan(first_[d.at()], first_[d.at() + 1] - first_[d.at()]));
        if (a.stage.value < 0) continue;
        made.rows[d.at()].push_back(a);
        free[d.at()] = slot + static_cast<std::size_t>(rule_.slots(a.kind));
        ends[free[d.at()] % ends.size()].push_back(a);
        ++running;
      }
    }
    return made;
  }

 private:
  [[nodiscard]] constexpr std::size_t cell(route_index r, std::int32_t s) const {
    return r.at() * static_cast<std::size_t>(where_.stages) + static_cast<std::size_t>(s);
  }
  constexpr void wake(device_index d) {
    if (awake_[d.at()] == 0) turns_.push_back(d);
    awake_[d.at()] = 1;
  }
  /// The device's most urgent action, begun; without a stage where there is none.
  constexpr action begin(std::span<list_lane> own) {
    const bool halves = Rule::form == backward_form::halves;
    const action_kind back = halves ? action_kind::backward_input : action_kind::backward;
    action best{};
    std::int32_t* count = nullptr;
    std::int64_t least = -1;
    for (list_lane& lane : own) {
      const auto offer = [&](action_kind kind, std::int32_t& begun, std::int32_t there) {
        if (begun >= there) return;
        const std::int64_t urgency = rule_.urgency(kind, lane, std::span<const list_lane>(own));
        if (urgency < 0 || (least >= 0 && urgency >= least)) return;
        least = urgency;
        count = &begun;
        const microbatch_index microbatch(lane.route.value + begun * where_.routes);
        best = {kind, side::none, lane.route, lane.stage, microbatch, layer_index(-1)};
      };
      offer(action_kind::forward, lane.forwards, lane.activations);
      offer(back, lane.backwards, lane.gradients);
      if (halves) offer(action_kind::backward_weight, lane.weights, lane.backwards);
    }
    if (count != nullptr) ++*count;
    return best;
  }
  constexpr void end(const action& a) {
    wake(where_.device_of(a.route, a.stage));
    if (a.kind == action_kind::backward_weight) return;
    const bool forward = a.kind == action_kind::forward;
    const bool turns = forward && a.stage.value + 1 == where_.stages;
    const std::int32_t to = turns ? a.stage.value : a.stage.value + (forward ? 1 : -1);
    if (to < 0) return;
    list_lane& lane = lanes_[at_[cell(a.route, to)]];
    ++(forward && !turns ? lane.activations : lane.gradients);
    wake(where_.device_of(a.route, stage_index(to)));
  }

  pipeline_shape shape_;
  const placement& where_;
  Rule rule_;
  std::vector<list_lane> lanes_;     ///< device by device
  std::vector<std::size_t> first_;   ///< of each device in `lanes_`
  std::vector<std::size_t> at_;      ///< of (route, stage) in `lanes_`
  std::vector<device_index> turns_;  ///< devices that may begin something in this slot
  std::vector<char> awake_;          ///< 1 for each device in `turns_`
};

}  // namespace brim::schemes
