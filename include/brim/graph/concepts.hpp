// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>
#include <brim/model/concepts.hpp>
#include <brim/scheme/order.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace brim {

/// Rows of actions, device by device, in contiguous arrays that somebody else owns.
///
/// Requirements, for `const R r`: the fields `scheme`, `shape`, `stages`, `holders` (route by route), `actions` and
/// `offsets` (`devices + 1` positions in `actions`).
///
/// Not required: times, or that the rows can be executed at all.
/// Models: `timeline_view`.
template <class R>
concept action_rows = requires(const R& rows) {
  { rows.scheme } -> std::convertible_to<std::string_view>;
  { rows.shape } -> std::convertible_to<pipeline_shape>;
  { rows.stages } -> std::convertible_to<std::int32_t>;
  { rows.holders } -> std::convertible_to<std::span<const device_index>>;
  { rows.actions } -> std::convertible_to<std::span<const action>>;
  { rows.offsets } -> std::convertible_to<std::span<const std::size_t>>;
};

/// A value that lends its rows: `timeline`, `static_timeline`.
template <class T>
concept lends_action_rows = requires(const T& owner) {
  { owner.view() } -> action_rows;
};

/// Times that have been fixed: `times[v].start`, `times[v].end` of action `v`, `transfers[s]` between stages `s` and
/// `s + 1`. Models: `timeline`, `timeline_view`, `static_timeline`.
template <class T>
concept timed_rows = requires(const T& timed, std::size_t at) {
  { timed.times[at].start } -> std::convertible_to<ticks>;
  { timed.times[at].end } -> std::convertible_to<ticks>;
  { timed.transfers[at] } -> std::convertible_to<ticks>;
};

/// What a task graph can take its weights from: costs, or a timeline.
template <class T> concept weight_source = cost_model<T> || timed_rows<T>;

/// Instruction lists as a plan holds them. The graph folder lies below `plan`, so it says what it reads and leaves the
/// type to the caller.
///
/// Requirements, for `const P p`: `instructions` with `what`, `peer`, `tag`, `step`, `records`, `first_wait`,
/// `wait_count`; `streams` with `device`, `kind`, `begin`, `end`; `waits`; `events`; `scheme`, `shape`; all as in `plan`.
/// Models: `plan`. Archetype: `tests/unit/graph/plan_graph_test.cpp`.
template <class P>
concept program_like = requires(const P& program, std::size_t at) {
  { program.instructions.size() } -> std::convertible_to<std::size_t>;
  { program.instructions[at].what } -> std::convertible_to<action>;
  { program.instructions[at].peer } -> std::convertible_to<device_index>;
  { program.instructions[at].tag } -> std::convertible_to<std::int32_t>;
  { program.instructions[at].step } -> std::convertible_to<std::int32_t>;
  { program.instructions[at].records.value } -> std::convertible_to<std::int32_t>;
  { program.instructions[at].first_wait } -> std::convertible_to<std::uint32_t>;
  { program.instructions[at].wait_count } -> std::convertible_to<std::uint32_t>;
  { program.streams.size() } -> std::convertible_to<std::size_t>;
  { program.streams[at].device } -> std::convertible_to<device_index>;
  { name_of(program.streams[at].kind) } -> std::convertible_to<std::string_view>;
  { program.streams[at].begin } -> std::convertible_to<std::uint32_t>;
  { program.streams[at].end } -> std::convertible_to<std::uint32_t>;
  { program.waits[at].value } -> std::convertible_to<std::int32_t>;
  { program.events } -> std::convertible_to<std::int32_t>;
  { program.scheme } -> std::convertible_to<std::string_view>;
  { program.shape } -> std::convertible_to<pipeline_shape>;
};

}  // namespace brim
