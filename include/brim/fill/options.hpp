// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>

#include <cstdint>
#include <vector>

namespace brim {

/// When work is cut into shorter pieces than it must be.
enum class panel_rule : std::uint8_t {
  never,
  when_needed,  ///< refreshes into panels on a lane where one fits no bubble, or where too few bubbles hold the long ones;
                ///< everything, ever shorter, where no table is good without that
  always,       ///< everything that the source allows to cut
};

struct fill_options {
  ticks margin_permille = 50;  ///< a piece needs its duration and this much more of what is left of a bubble
  panel_rule panels = panel_rule::when_needed;
  ticks longest_panel = 10'000'000;  ///< 10 ms; never more than an eighth of the lane's longest bubble
  std::int32_t longest_cycle = 0;  ///< steps of the longest table; 0: 32, and where the load asks for it twice the load
  double tolerance = 0.004;        ///< share of the devices' time below the bound at which a table is good enough
  std::vector<bytes> kept_limits{};  ///< of each device: what it may keep waiting for statistics; empty means no limit
};

}  // namespace brim
