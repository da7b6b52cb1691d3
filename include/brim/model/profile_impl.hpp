// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/model/profile.hpp>

namespace brim {

inline ticks profile::on_device(ticks time, device_index d) const {
  const double speed = device(d).speed;
  if (speed == 1.0 || time == 0) return time;
  const double scaled = static_cast<double>(time) / speed;
  if (!(scaled < static_cast<double>(longest_schedule))) return longest_schedule;  // refused where the schedule is made
  const auto whole = static_cast<ticks>(scaled);
  return static_cast<double>(whole) < scaled ? whole + 1 : whole;
}

inline bytes profile::at_end(const action& what, device_index) const {
  const stage_memory& memory = stage(what.stage).memory;
  switch (what.kind) {
    case action_kind::backward: return -memory.activations;
    case action_kind::backward_input: return -memory.released_by_backward_input;
    case action_kind::backward_weight: return memory.released_by_backward_input - memory.activations;
    default: return 0;
  }
}

namespace detail {

struct profile_checker {
  const profile& costs;

  [[noreturn]] static void fail(const std::string& sentence) { raise(error_code::bad_profile, sentence); }

  static void time(ticks value, std::size_t stage, std::string_view field) {
    if (value < 0 || value > longest_duration)
      fail(text("profile: stages[", stage, "].", field, " is ", value, " ticks; expected 0 … 2^50"));
  }
  static void memory(bytes value, std::size_t stage, std::string_view field) {
    if (value < 0 || value > largest_memory)
      fail(text("profile: stages[", stage, "].", field, " is ", value, " bytes; expected 0 … 2^50"));
  }

  static void stage(const stage_profile& s, std::size_t at) {
    time(s.cost.forward, at, "forward");
    time(s.cost.backward, at, "backward");
    if (s.cost.backward_input != unmeasured) time(s.cost.backward_input, at, "backward_input");
    if (s.cost.backward_weight != unmeasured) time(s.cost.backward_weight, at, "backward_weight");
    time(s.cost.of(action_kind::backward_input), at, "backward_input");
    time(s.cost.of(action_kind::backward_weight), at, "backward_weight");
    time(s.cost.recompute, at, "recompute");
    time(s.cost.optimizer_step, at, "optimizer_step");
    memory(s.memory.weights, at, "memory.weights");
    memory(s.memory.activations, at, "memory.activations");
    memory(s.memory.released_by_backward_input, at, "memory.released_by_backward_input");
    memory(s.memory.released_by_backward_weight, at, "memory.released_by_backward_weight");
    for (const layer_profile& l : s.layers) {
      time(l.statistic_a, at, "layers[].statistic.a");
      time(l.statistic_b, at, "layers[].statistic.b");
      time(l.refresh_a, at, "layers[].refresh.a");
      time(l.refresh_b, at, "layers[].refresh.b");
      time(l.precondition, at, "layers[].precondition");
      memory(l.saved_inputs, at, "layers[].memory.saved_inputs");
      memory(l.saved_errors, at, "layers[].memory.saved_errors");
      memory(l.factors, at, "layers[].memory.factors");
    }
  }

  static void count(std::string_view field, std::size_t have, std::string_view noun, std::int32_t need,
                    std::string_view rule) {
    if (have != 1 && have != static_cast<std::size_t>(need))
      fail(text("profile: ", field, ": it lists ", have, " ", noun, "; expected ", need, ", one for each ", rule,
                ", or a single one for all"));
  }

  void check(const placement& where) const {
    if (costs.stages.empty()) fail("profile: it has no stages; expected at least one");
    count("stages", costs.stages.size(), "stages", where.stages, "stage of the schedule");
    if (!costs.devices.empty())
      count("devices", costs.devices.size(), "devices", where.devices, "device of the schedule");
    if (!costs.links.p2p.empty())
      count("links.p2p", costs.links.p2p.size(), "times", where.stages - 1, "boundary between stages");
    for (std::size_t s = 0; s < costs.stages.size(); ++s) stage(costs.stages[s], s);
    for (std::size_t d = 0; d < costs.devices.size(); ++d)
      if (!(costs.devices[d].speed >= 1e-6 && costs.devices[d].speed <= 1e6))
        fail(text("profile: devices[", d, "].speed is out of range; expected 1e-6 … 1e6"));
    if (costs.links.latency < 0 || costs.links.latency > longest_duration)
      fail("profile: links.latency is out of range");
    for (const ticks t : costs.links.p2p)
      if (t < 0 || t > longest_duration) fail(text("profile: links.p2p is ", t, " ticks; expected 0 … 2^50"));
  }
};

}  // namespace detail

inline void check_profile(const profile& costs, const placement& where) { detail::profile_checker{costs}.check(where); }

inline placed_costs profile::prepare(const placement& where) const {
  check_profile(*this, where);
  placed_costs placed{.stages = where.stages, .table = {}, .transfers = {}};
  for (std::int32_t r = 0; r < where.routes; ++r)
    for (std::int32_t s = 0; s < where.stages; ++s) {
      const device_index d = where.device_of(route_index(r), stage_index(s));
      const stage_cost& cost = stage(stage_index(s)).cost;
      placed.table.push_back({on_device(cost.forward, d), on_device(cost.backward, d),
                              on_device(cost.of(action_kind::backward_input), d),
                              on_device(cost.of(action_kind::backward_weight), d), on_device(cost.recompute, d),
                              on_device(cost.optimizer_step, d)});
    }
  for (std::int32_t s = 0; s + 1 < where.stages; ++s) placed.transfers.push_back(transfer(stage_index(s)));
  return placed;
}

}  // namespace brim
