// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace brim::detail {

/// A unit as a file names it, and how many nanoseconds or bytes it is.
struct named_unit {
  std::string_view name;
  std::int64_t scale = 1;
};

inline constexpr std::array<named_unit, 4> time_units{
    {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};

inline constexpr std::array<named_unit, 7> memory_units{{{"B", 1},
                                                         {"KiB", std::int64_t{1} << 10},
                                                         {"MiB", std::int64_t{1} << 20},
                                                         {"GiB", std::int64_t{1} << 30},
                                                         {"kB", 1'000},
                                                         {"MB", 1'000'000},
                                                         {"GB", 1'000'000'000}}};

}  // namespace brim::detail
