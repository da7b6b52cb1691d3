// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>
#include <brim/model/action.hpp>
#include <brim/model/placement.hpp>

#include <concepts>

namespace brim {

template <class C>
concept has_duration = requires(const C& costs, const action& what, device_index device) {
  { costs.duration(what, device) } -> std::convertible_to<ticks>;
};

template <class C>
concept has_transfer = requires(const C& costs, stage_index lower) {
  { costs.transfer(lower) } -> std::convertible_to<ticks>;
};

/// What every action costs.
///
/// Requirements, for `const C c`:
/// - `c.duration(action, device) -> ticks`: time that the device is busy; never negative, the same for the same arguments.
/// - `c.transfer(stage s) -> ticks`: time between the end of an action on one device and its result being usable on
///   another, between stages `s` and `s + 1`, in either direction. Not asked for between stages of one device.
///
/// Not required: copying, ordering, or that equal stages cost the same; costs may depend on the microbatch.
/// Refinement: a model with `prepare(placement)` is asked for a cheaper model of the same costs once, before use.
/// Complexity: both are called about once an action, so constant time matters.
/// Models: `uniform_cost`, `stage_costs`, `profile`. Archetype: `tests/support/archetypes.hpp`.
template <class C> concept cost_model = has_duration<C> && has_transfer<C>;

/// A cost model that is looked up in another form while scheduling.
template <class C>
concept preparable_cost_model = requires(const C& costs, const placement& where) {
  { costs.prepare(where) } -> cost_model;
};

template <class M>
concept has_memory_deltas = requires(const M& memory, const action& what, device_index device) {
  { memory.at_start(what, device) } -> std::convertible_to<bytes>;
  { memory.at_end(what, device) } -> std::convertible_to<bytes>;
};

template <class M>
concept has_resident_memory = requires(const M& memory, route_index route, stage_index stage) {
  { memory.resident(route, stage) } -> std::convertible_to<bytes>;
};

/// What every action does to the memory of its device.
///
/// Requirements, for `const M m`:
/// - `m.at_start(action, device) -> bytes`, `m.at_end(action, device) -> bytes`: change of the bytes in use at the
///   start and at the end of the action; negative where something is released.
/// - `m.resident(route, stage) -> bytes`: held all the time by the device that holds that stage of that route.
///
/// Models: `uniform_memory`, `profile`. Archetype: `tests/support/archetypes.hpp`.
template <class M> concept memory_model = has_memory_deltas<M> && has_resident_memory<M>;

/// Stops the compilation with one sentence for each thing that `C` lacks.
template <class C>
consteval bool check_cost_model() {
  static_assert(has_duration<C>,
                "cost_model: costs.duration(action, device_index) -> ticks; see docs/reference/model.md#cost_model");
  static_assert(has_transfer<C>,
                "cost_model: costs.transfer(stage_index) -> ticks; see docs/reference/model.md#cost_model");
  return cost_model<C>;
}

/// Stops the compilation with one sentence for each thing that `M` lacks.
template <class M>
consteval bool check_memory_model() {
  static_assert(has_memory_deltas<M>,
                "memory_model: memory.at_start(action, device_index) and at_end(...) -> bytes; see "
                "docs/reference/model.md#memory_model");
  static_assert(
      has_resident_memory<M>,
      "memory_model: memory.resident(route_index, stage_index) -> bytes; see docs/reference/model.md#memory_model");
  return memory_model<M>;
}

}  // namespace brim
