// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <brim/schedule/lower_bound.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>

#include <algorithm>

// Closed forms, checked while compiling, and once more at run time, where coverage and sanitizers see them. Clang stops
// at about a million steps of one constant evaluation, so that each assertion stays below 4 000 actions.

namespace {

using brim::pipeline_shape;
using brim::uniform_cost;

constexpr uniform_cost one_and_two{.forward = 1, .backward = 2};

template <class Scheme>
constexpr brim::ticks makespan_of(const Scheme& scheme, const pipeline_shape& shape, const uniform_cost& costs) {
  return brim::makespan(brim::simulate(scheme, shape, costs));
}

/// `(devices - 1)` bubbles of one chunk, for 1F1B, GPipe and, with chunks, interleaved 1F1B and breadth-first.
template <class Scheme>
constexpr bool fills_and_drains(const Scheme& scheme, const pipeline_shape& shape, const uniform_cost& costs) {
  const brim::timeline t = brim::simulate(scheme, shape, costs);
  const brim::ticks pair = costs.forward + costs.backward;
  const brim::ticks expected = (std::int64_t{shape.microbatches} * shape.chunks + shape.devices - 1) * pair;
  return brim::makespan(t) == expected && brim::longest_span(t) == expected && brim::period(t) == expected &&
         brim::makespan_bound(t, costs).length == expected;
}

constexpr bool one_f_one_b_upto(std::int32_t devices, std::int32_t microbatches) {
  for (std::int32_t p = 1; p <= devices; ++p)
    for (std::int32_t m = 1; m <= microbatches; ++m)
      if (makespan_of(brim::schemes::one_f_one_b{}, {p, m}, one_and_two) != 3 * (m + p - 1)) return false;
  return true;
}

/// Chimera with one unit: m = p; forward <= backward.
constexpr bool chimera_one_unit(std::int32_t p, const uniform_cost& costs) {
  return makespan_of(brim::schemes::chimera{}, {p, p}, costs) == p * costs.forward + (2 * p - 2) * costs.backward;
}

/// Chimera with `units` units.
constexpr bool chimera_many_units(std::int32_t p, std::int32_t units, const uniform_cost& costs) {
  return makespan_of(brim::schemes::chimera{}, {p, units * p}, costs) ==
         (p + 2 * (units - 1)) * costs.forward + units * (2 * p - 2) * costs.backward;
}

/// Chimera with forward = backward and several pairs: idle p/(2 pairs) - 1 of each direction.
constexpr bool chimera_even(std::int32_t p, std::int32_t pairs) {
  return makespan_of(brim::schemes::chimera{}, {.devices = p, .microbatches = p, .pairs = pairs},
                     {.forward = 1, .backward = 1}) == 2 * (p + p / (2 * pairs) - 1);
}

/// ZB-V has no bubble in its spans, V-Half and V-Min those of their comments; every forward and half takes one tick.
constexpr bool v_schedules(std::int32_t p) {
  const pipeline_shape shape{p, 3 * p, 2};
  const auto bubble = [&](const auto& scheme) {
    return brim::longest_span(brim::simulate(scheme, shape, one_and_two)) - 6 * shape.microbatches;
  };
  return bubble(brim::schemes::zero_bubble_v{}) == 0 &&
         bubble(brim::schemes::v_half{}) == std::max(0, p % 2 == 0 ? 3 * p - 7 : 3 * p - 4) &&
         bubble(brim::schemes::v_min{}) == (p % 3 == 0 ? 4 * p - 7 : 4 * p - 5);
}

// clang-format off
#define BOTH(name, ...)                                   \
  static_assert(__VA_ARGS__);                             \
  TEST_CASE(name) { CHECK((__VA_ARGS__)); }
// clang-format on

BOTH("1F1B lasts 3 (M + P - 1) with forward 1 and backward 2: small shapes", one_f_one_b_upto(5, 8))
BOTH("1F1B, 8 devices", fills_and_drains(brim::schemes::one_f_one_b{}, {8, 64}, one_and_two))
BOTH("1F1B, 16 devices", fills_and_drains(brim::schemes::one_f_one_b{}, {16, 24}, one_and_two))
BOTH("1F1B, 16 devices, fewer microbatches",
     fills_and_drains(brim::schemes::one_f_one_b{}, {16, 5}, {.forward = 7, .backward = 3}))
BOTH("1F1B, one device", fills_and_drains(brim::schemes::one_f_one_b{}, {1, 128}, one_and_two))
BOTH("GPipe, 8 devices", fills_and_drains(brim::schemes::gpipe{}, {8, 32}, {.forward = 5, .backward = 11}))
BOTH("GPipe, one microbatch", fills_and_drains(brim::schemes::gpipe{}, {16, 1}, one_and_two))
BOTH("interleaved, 2 chunks", fills_and_drains(brim::schemes::interleaved_one_f_one_b{}, {4, 8, 2}, one_and_two))
BOTH("interleaved, 4 chunks",
     fills_and_drains(brim::schemes::interleaved_one_f_one_b{}, {4, 8, 4}, {.forward = 3, .backward = 5}))
BOTH("breadth-first, 2 chunks", fills_and_drains(brim::schemes::looped_bfs{}, {4, 8, 2}, one_and_two))
BOTH("breadth-first, 3 chunks, 5 devices, 7 microbatches",
     fills_and_drains(brim::schemes::looped_bfs{}, {5, 7, 3}, one_and_two))
BOTH("Chimera, one unit", chimera_one_unit(4, one_and_two) && chimera_one_unit(8, {.forward = 10, .backward = 17}))
BOTH("Chimera, 4 units", chimera_many_units(4, 4, one_and_two))
BOTH("Chimera, 8 devices, 3 units", chimera_many_units(8, 3, {.forward = 10, .backward = 17}))
BOTH("Chimera, pairs", chimera_even(8, 1) && chimera_even(8, 2) && chimera_even(8, 4))
BOTH("V schedules, 2 devices", v_schedules(2))
BOTH("V schedules, 3 devices", v_schedules(3))
BOTH("Hanayo, 2 waves, forward = backward",
     makespan_of(brim::schemes::hanayo{}, {4, 4, 4}, {.forward = 1, .backward = 1}) == 2 * 4 * 4 + 2 * 4 - 2)
BOTH("BitPipe, forward = backward",
     makespan_of(brim::schemes::bitpipe{}, {4, 8, 2}, {.forward = 1, .backward = 1}) == 4 * 8 + 4 - 2)
BOTH("GEMS: a microbatch comes back while the next one goes",
     makespan_of(brim::schemes::gems{}, {8, 24}, one_and_two) == 415)

#undef BOTH

}  // namespace

TEST_CASE("1F1B lasts 3 (M + P - 1) for all P <= 16, M <= 128") { CHECK(one_f_one_b_upto(16, 128)); }
