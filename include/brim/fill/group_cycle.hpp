// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/fill/analysis.hpp>
#include <brim/fill/options.hpp>
#include <brim/fill/prepare.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace brim::detail {

/// A run of one group that has reached a repeating table: the last `window.steps` steps. Empty where there is none.
struct group_cycle {
  std::vector<run_piece> pieces{};
  run_window window{};
  std::vector<lane_numbers> lanes{};  ///< of the window, by lane of the group
  std::int32_t greatest_age = 0;
  bytes kept = 0;

  [[nodiscard]] bool found() const { return !lanes.empty(); }
};

/// The numbers of a run's window.
inline group_cycle describe_cycle(const prepared_fill& prepared, const fill_group& group, std::vector<run_piece> pieces,
                                  run_window window) {
  group_cycle out{.pieces = std::move(pieces), .window = window};
  out.lanes = run_analysis(prepared.work, prepared.bubbles, group, out.pieces, window).run();
  for (const lane_numbers& lane : out.lanes) {
    out.greatest_age = std::max(out.greatest_age, lane.greatest_age);
    out.kept = std::max(out.kept, lane.kept);
  }
  return out;
}

/// Steps of the longest table of all groups; 2^12 for one group, and as much again for what several have in common.
inline constexpr std::int32_t longest_table = 1 << 13;

/// The least common multiple of the groups' lengths; 0 where it exceeds `longest`.
inline std::int32_t common_length(const std::vector<group_cycle>& cycles, std::int32_t longest = longest_table) {
  std::int64_t common = 1;
  for (const group_cycle& c : cycles) {
    const std::int64_t step = common;
    while (common % c.window.steps != 0 && common <= longest) common += step;
    if (common > longest) return 0;
  }
  return static_cast<std::int32_t>(common);
}

/// A table that was refused because a device would keep too much.
struct kept_refusal {
  std::int32_t device = -1;
  bytes kept = 0;
  bytes limit = 0;

  [[nodiscard]] bool exists() const { return device >= 0; }
  [[nodiscard]] bytes excess() const { return kept - limit; }
  /// Stops with `over_memory`, if there is one.
  void raise_if_any() const {
    if (!exists()) return;
    raise(error_code::over_memory,
          text("fill: device ", device, " would keep ", kept,
               " bytes of inputs and errors for its statistics, and has ", limit, " bytes left for them"),
          {.device = device});
  }
};

/// The one that asks for less.
[[nodiscard]] inline const kept_refusal& nearer(const kept_refusal& a, const kept_refusal& b) {
  return !b.exists() || (a.exists() && a.excess() <= b.excess()) ? a : b;
}

/// The device of a group that exceeds its limit most, if any does.
inline kept_refusal over_limit(const fill_options& options, const fill_group& group, const group_cycle& cycle,
                               std::int32_t devices) {
  kept_refusal worst;
  for (std::size_t i = 0; i < cycle.lanes.size() && !options.kept_limits.empty(); ++i) {
    const std::int32_t device = group.lanes[i] % devices;
    const bytes limit = options.kept_limits[static_cast<std::size_t>(device)];
    const bytes kept = cycle.lanes[i].kept;
    if (kept > limit && kept - limit > worst.excess()) worst = {device, kept, limit};
  }
  return worst;
}

}  // namespace brim::detail
