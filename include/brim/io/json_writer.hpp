// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace brim::detail {

/// Length of the valid UTF-8 sequence at the start of `text`; 0 where there is none (overlong forms, surrogates and
/// numbers above U+10FFFF included).
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  const auto tail = [&](std::size_t at) { return (byte(at) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80U) return text.empty() ? 0 : 1;
  if (first >= 0xC2U && first <= 0xDFU) return tail(1) ? 2 : 0;
  if (first >= 0xE0U && first <= 0xEFU) {
    const unsigned second = byte(1);
    if (first == 0xE0U && second < 0xA0U) return 0;
    if (first == 0xEDU && second > 0x9FU) return 0;
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    const unsigned second = byte(1);
    if (first == 0xF0U && second < 0x90U) return 0;
    if (first == 0xF4U && second > 0x8FU) return 0;
    return tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

/// Appends text as the inside of a JSON string. Bytes that are not UTF-8 become U+FFFD, so that every export is valid.
inline void append_json_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto c = static_cast<unsigned char>(text.front());
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (length > 1) {
      out += text.substr(0, length);
    } else {
      switch (c) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        default:
          if (c < 0x20U || c == 0x7FU) {
            out += "\\u00";
            out += hex[c >> 4U];
            out += hex[c & 15U];
          } else {
            out += static_cast<char>(c);
          }
      }
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

/// Appends the shortest text that reads back as the same number: the same on every machine, whatever the locale.
template <class Number>
  requires(std::integral<Number> || std::floating_point<Number>)
void append_number(std::string& out, Number value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

/// Writes JSON in the order of the calls. Commas are its own business; nesting is the caller's.
///
/// A writer of our own, because the exports want one entry a line, a fixed order of fields and no tree in memory.
class json_writer {
 public:
  json_writer& key(std::string_view name) {
    separate();
    quote(name);
    out_ += ": ";
    fresh_ = true;
    return *this;
  }
  json_writer& begin(char bracket) {
    separate();
    out_ += bracket;
    fresh_ = true;
    return *this;
  }
  json_writer& end(char bracket) {
    out_ += bracket;
    fresh_ = false;
    return *this;
  }
  /// Starts a new line before the next key or value, with the given number of spaces.
  json_writer& line(std::size_t indent) {
    if (!fresh_) out_ += ',';
    out_ += '\n';
    out_.append(indent, ' ');
    fresh_ = true;
    return *this;
  }
  /// Starts a new line for a closing bracket.
  json_writer& close_line(std::size_t indent) {
    out_ += '\n';
    out_.append(indent, ' ');
    return *this;
  }
  json_writer& value(std::string_view text) {
    separate();
    quote(text);
    return *this;
  }
  template <std::integral Integer>
  json_writer& value(Integer number) {
    separate();
    append_number(out_, number);
    return *this;
  }
  /// JSON has no infinities; none of ours is one, and a wrong one becomes null instead of an unreadable file.
  json_writer& value(double number) {
    separate();
    if (std::isfinite(number))
      append_number(out_, number);
    else
      out_ += "null";
    return *this;
  }
  /// Text that is JSON already.
  json_writer& raw(std::string_view json) {
    separate();
    out_ += json;
    return *this;
  }
  template <class Value>
  json_writer& field(std::string_view name, const Value& what) {
    return key(name).value(what);
  }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void separate() {
    if (!fresh_) out_ += ", ";
    fresh_ = false;
  }
  void quote(std::string_view text) {
    out_ += '"';
    append_json_escaped(out_, text);
    out_ += '"';
  }

  std::string out_;
  bool fresh_ = true;
};

}  // namespace brim::detail
