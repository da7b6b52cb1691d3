// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>
#include <brim/scheme/order.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace brim {

/// A half-open stretch of time.
struct interval {
  ticks start = 0;
  ticks end = 0;

  [[nodiscard]] constexpr ticks length() const { return end - start; }
  friend constexpr bool operator==(const interval&, const interval&) = default;
};

/// Reads a timeline wherever its arrays live: in vectors (`timeline`) or in a constant (`static_timeline`).
/// Cheap to copy; valid as long as the arrays are.
struct timeline_view {
  std::string_view scheme{};
  pipeline_shape shape{};
  std::int32_t routes = 1;
  std::int32_t stages = 1;
  std::span<const device_index> holders;  ///< `routes * stages`, route by route
  std::span<const ticks> transfers;       ///< between stages `s` and `s + 1`
  std::span<const action> actions;        ///< device by device
  std::span<const interval> times;        ///< of `actions`
  std::span<const std::size_t> offsets;   ///< `devices + 1` positions

  [[nodiscard]] constexpr std::size_t size_of(device_index d) const { return offsets[d.at() + 1] - offsets[d.at()]; }
  [[nodiscard]] constexpr std::span<const action> row(device_index d) const {
    return actions.subspan(offsets[d.at()], size_of(d));
  }
  [[nodiscard]] constexpr std::span<const interval> times_of(device_index d) const {
    return times.subspan(offsets[d.at()], size_of(d));
  }
  [[nodiscard]] constexpr device_index device_of(route_index route, stage_index stage) const {
    return holders[route.at() * static_cast<std::size_t>(stages) + stage.at()];
  }
};

/// Start and end of every action of one step on every device. 32 bytes an action.
///
/// Time 0 is the start of the step. Actions of a device do not overlap and stand in order of time.
struct timeline {
  order program{};
  std::vector<ticks> transfers{};  ///< between stages `s` and `s + 1`; size `stages − 1`
  std::vector<interval> times{};   ///< of `program.actions`

  [[nodiscard]] constexpr timeline_view view() const {
    return {program.scheme,        program.shape, program.where.routes, program.where.stages,
            program.where.holders, transfers,     program.actions,      times,
            program.offsets};
  }
  constexpr operator timeline_view() const {
    return view();
  }  // NOLINT(google-explicit-constructor): a timeline is readable

  friend constexpr bool operator==(const timeline&, const timeline&) = default;
};

}  // namespace brim
