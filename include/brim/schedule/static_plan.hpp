// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>

#include <array>
#include <cstddef>

namespace brim {

/// A timeline whose arrays live in the value itself, so that it can be a constant. Everything that reads a
/// `timeline_view` reads it too.
template <std::size_t Actions, std::size_t Devices, std::size_t Stages, std::size_t Routes>
struct static_timeline {
  std::string_view scheme;
  pipeline_shape shape;
  std::array<device_index, Routes * Stages> holders{};
  std::array<ticks, Stages - 1> transfers{};
  std::array<action, Actions> actions{};
  std::array<interval, Actions> times{};
  std::array<std::size_t, Devices + 1> offsets{};

  [[nodiscard]] constexpr timeline_view view() const {
    return {scheme,
            shape,
            static_cast<std::int32_t>(Routes),
            static_cast<std::int32_t>(Stages),
            holders,
            transfers,
            actions,
            times,
            offsets};
  }
  constexpr operator timeline_view() const { return view(); }  // NOLINT(google-explicit-constructor): as for timeline

  [[nodiscard]] constexpr ticks makespan() const { return brim::makespan(view()); }
  [[nodiscard]] constexpr ticks period() const { return brim::period(view()); }
  [[nodiscard]] constexpr double bubble_ratio(length_kind kind = length_kind::makespan) const {
    return brim::bubble_ratio(view(), kind);
  }
};

/// The timeline of a scheme as a constant: `make_order` and `simulate`, evaluated at compile time.
///
/// `Scheme` and `Shape` are template arguments because they decide the size of the arrays. Clang stops at about a million
/// steps of constant evaluation, which is some 4 000 actions; make larger plans at start-up.
/// Example: `examples/static_plan/`.
template <auto Scheme, pipeline_shape Shape, cost_model Costs>
[[nodiscard]] consteval auto static_plan(const Costs& costs) {
  constexpr auto stages = static_cast<std::size_t>(placement_of(Scheme, Shape).stages);
  constexpr auto routes = static_cast<std::size_t>(placement_of(Scheme, Shape).routes);
  constexpr std::size_t actions = 2 * stages * static_cast<std::size_t>(Shape.microbatches);
  const timeline t = simulate(Scheme, Shape, costs);
  BRIM_EXPECT(t.times.size() ==
              actions);  // schemes with split backwards have more actions than a static plan has room for
  static_timeline<actions, static_cast<std::size_t>(Shape.devices), stages, routes> fixed{.scheme = t.program.scheme,
                                                                                          .shape = Shape};
  std::copy(t.program.where.holders.begin(), t.program.where.holders.end(), fixed.holders.begin());
  std::copy(t.transfers.begin(), t.transfers.end(), fixed.transfers.begin());
  std::copy(t.program.actions.begin(), t.program.actions.end(), fixed.actions.begin());
  std::copy(t.times.begin(), t.times.end(), fixed.times.begin());
  std::copy(t.program.offsets.begin(), t.program.offsets.end(), fixed.offsets.begin());
  return fixed;
}

}  // namespace brim
