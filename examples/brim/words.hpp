// SPDX-License-Identifier: Apache-2.0
// Numbers in words that people read. Only ASCII, and the same on every machine.
#pragma once

#include <brim/core/ticks.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// A number with a fixed count of decimals.
[[nodiscard]] std::string fixed(double value, int decimals);

/// `0.598` as `"59.8 %"`.
[[nodiscard]] std::string percent(double share);

/// Nanoseconds as `"556.4 ms"`.
[[nodiscard]] std::string milliseconds(brim::ticks time);

/// Bytes as `"3.21 GiB"`, `"12.0 MiB"` or `"17 B"`.
[[nodiscard]] std::string size(brim::bytes amount);

/// Text from a file or a command line, fit for a terminal: control characters are spelled out (`\u001b`), bytes that are not
/// UTF-8 become U+FFFD.
[[nodiscard]] std::string printable(std::string_view text);

/// A message in which `N bytes` and `N ticks` (nanoseconds) are in units that people compare; the exact number follows where
/// the short one is rounded: `"3.32 GiB (3564109825 bytes)"`.
[[nodiscard]] std::string readable(std::string_view message);

/// A text broken at spaces into lines of at most `width` columns (longer words stay whole); each but the first is indented.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

/// `"1 step"`, `"2 steps"`.
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun);

/// Rows of cells under a heading, in columns as wide as they need. A row with fewer cells is a row with a remark: its last
/// cell goes on to the end of the line, and in lines below where it is long.
struct text_table {
  std::vector<std::vector<std::string>> rows{};  ///< the first is the heading
  static constexpr std::size_t width = 120;      ///< where remarks are broken
  std::size_t left_from = std::string::npos;     ///< columns from here on are flush left, as the first is

  [[nodiscard]] std::string text() const;
};

}  // namespace tool
