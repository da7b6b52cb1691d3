// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace brim {

/// Time in the core: integers, nanoseconds unless the caller means something else. Integers make a plan the same on
/// every machine and compiler.
using ticks = std::int64_t;

/// Memory in the core.
using bytes = std::int64_t;

/// The greatest duration that an input may hold: 2^50, 13 days in nanoseconds.
inline constexpr ticks longest_duration = ticks{1} << 50;

/// The greatest length of a whole schedule. It is checked once, where costs enter, so that the core adds unchecked.
inline constexpr ticks longest_schedule = ticks{1} << 61;

/// The greatest amount of memory that an input may hold: 2^50 bytes, 1 PiB.
inline constexpr bytes largest_memory = bytes{1} << 50;

namespace detail {

/// The sum of two amounts of memory, within ±2^62 bytes: a petabyte for each of many microbatches does not fit 64 bits, and
/// no limit allows it anyway.
[[nodiscard]] constexpr bytes bounded_sum(bytes used, bytes change) {
  constexpr bytes most = bytes{1} << 62;
  if (change > 0) return used > most - change ? most : used + change;
  return used < -most - change ? -most : used + change;
}

}  // namespace detail
}  // namespace brim
