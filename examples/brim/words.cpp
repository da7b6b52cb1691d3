// SPDX-License-Identifier: Apache-2.0
#include "words.hpp"

#include <algorithm>
#include <charconv>

namespace tool {

std::string fixed(double value, int decimals) {
  char digits[400];
  return {digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, decimals).ptr};
}

std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

std::string milliseconds(brim::ticks time) { return fixed(1e-6 * static_cast<double>(time), 1) + " ms"; }

std::string size(brim::bytes amount) {
  const auto value = static_cast<double>(amount);
  if (amount >= brim::bytes{1} << 30) return fixed(value / (1 << 30), 2) + " GiB";
  if (amount >= brim::bytes{1} << 20) return fixed(value / (1 << 20), 1) + " MiB";
  return std::to_string(amount) + " B";
}

std::string counted(std::int64_t count, std::string_view noun) {
  std::string words = std::to_string(count) + ' ';
  words += noun;
  if (count != 1) words += noun == "microbatch" ? "es" : "s";
  return words;
}

std::string text_table::text() const {
  if (rows.empty()) return {};
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const std::vector<std::string>& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c)
      if (row.size() == widths.size() || c + 1 < row.size()) widths[c] = std::max(widths[c], row[c].size());
  std::string out;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const bool remark = row.size() != widths.size() && c + 1 == row.size();
      const std::size_t padding = remark ? 0 : widths[c] - row[c].size();
      const bool left = c == 0 || flush == alignment::left;
      if (c > 0) out += "  ";
      if (!left) out.append(padding, ' ');
      out += row[c];
      if (left && c + 1 < row.size()) out.append(padding, ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace tool
