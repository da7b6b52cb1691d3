// SPDX-License-Identifier: Apache-2.0
#include "words.hpp"

#include <brim/core/text.hpp>
#include <brim/io/json_writer.hpp>

#include <algorithm>
#include <charconv>

namespace tool {
namespace {

using brim::detail::text;

/// Whether one character of UTF-8 steers a terminal instead of being shown: C0, DEL, C1.
bool is_control(std::string_view character) {
  const auto last = static_cast<unsigned char>(character.back());
  if (character.size() == 1) return last < 0x20U || last == 0x7FU;
  return character.size() == 2 && character.front() == '\xC2' && last < 0xA0U;
}

std::string with_exact(const std::string& rounded, std::int64_t exact, std::string_view unit, bool same) {
  return same ? rounded : text(rounded, " (", exact, unit, ")");
}

std::string amount_in_words(std::int64_t amount) {
  if (amount < std::int64_t{1} << 20) return text(amount, " bytes");
  const bool large = amount >= std::int64_t{1} << 30;
  const std::int64_t shown_exactly = std::int64_t{1} << (large ? 28 : 19);  // quarters of a GiB, halves of a MiB
  return with_exact(size(amount), amount, " bytes", amount % shown_exactly == 0);
}

std::string time_in_words(std::int64_t time) {
  constexpr std::int64_t tenth = 100'000;
  if (time < tenth) return text(time, " ns");
  return with_exact(milliseconds(time), time, " ns", time % tenth == 0);
}

}  // namespace

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

std::string printable(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    const std::size_t length = brim::detail::utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, length));
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (is_control(character)) {
      const auto number = static_cast<unsigned char>(character.back());
      out += "\\u00";
      out += hex[number >> 4U];
      out += hex[number & 15U];
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string readable(std::string_view message) {
  constexpr std::string_view digits = "0123456789";
  std::string out;
  while (!message.empty()) {
    const std::size_t start = std::min(message.find_first_of(digits), message.size());
    out += message.substr(0, start);
    message.remove_prefix(start);
    const std::size_t length = std::min(message.find_first_not_of(digits), message.size());
    const std::string_view number = message.substr(0, length);
    const std::string_view unit = message.substr(length, 6);
    std::int64_t value = 0;
    const bool fits = std::from_chars(number.data(), number.data() + length, value).ec == std::errc{};
    const bool known = fits && (unit == " bytes" || unit == " ticks");
    out += !known ? std::string(number) : unit == " bytes" ? amount_in_words(value) : time_in_words(value);
    message.remove_prefix(length + (known ? unit.size() : 0));
  }
  return out;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const bool fits = column + (end - at) < width;
    if (column > 0) out += fits ? " " : '\n' + std::string(indent, ' ');
    column = (fits ? column + 1 : 0) + (end - at);
    out += text.substr(at, end - at);
    at = end + 1;
  }
  return out;
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
    const std::size_t start = out.size();
    for (std::size_t c = 0; c < row.size(); ++c) {
      const bool remark = row.size() != widths.size() && c + 1 == row.size();
      const std::size_t padding = remark ? 0 : widths[c] - row[c].size();
      const bool left = c == 0 || c >= left_from;
      if (c > 0) out += "  ";
      if (!left) out.append(padding, ' ');
      const std::size_t column = out.size() - start;
      out += remark ? wrapped(row[c], width - std::min(column, width), column) : row[c];
      if (left && c + 1 < row.size()) out.append(padding, ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

}  // namespace tool
