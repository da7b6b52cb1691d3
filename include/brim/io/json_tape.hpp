// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>

#include <nlohmann/json.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace brim::detail {

/// What a reader is willing to hold in memory.
struct json_limits {
  std::size_t size = std::size_t{64} << 20U;   ///< bytes of text
  std::size_t values = std::size_t{1} << 22U;  ///< keys, values and brackets
  std::size_t depth = 16;                      ///< brackets inside each other
};

enum class json_kind : std::uint8_t {
  null,
  boolean,
  integer,
  unsigned_integer,
  real,
  string,
  key,
  object,
  object_end,
  array,
  array_end
};

/// 16 bytes: a number is in `bits`, a text is `length` characters of the tape's pool from `bits` on.
struct json_token {
  json_kind kind = json_kind::null;
  std::uint32_t length = 0;
  std::uint64_t bits = 0;
};

/// A JSON text as a flat list of tokens: cheap to hold, and reading it needs neither recursion nor a tree.
struct json_tape {
  std::vector<json_token> tokens;
  std::string pool;

  [[nodiscard]] std::string_view text_of(const json_token& token) const {
    return std::string_view(pool).substr(static_cast<std::size_t>(token.bits), token.length);
  }
};

/// `line 3, column 7` of a position in a text; both count from 1, columns in bytes.
inline std::string line_and_column(std::string_view text_read, std::size_t position) {
  std::size_t line = 1;
  std::size_t start = 0;
  position = position > text_read.size() ? text_read.size() : position;
  for (std::size_t i = 0; i < position; ++i)
    if (text_read[i] == '\n') {
      ++line;
      start = i + 1;
    }
  return text("line ", line, ", column ", position > start ? position - start : 1);
}

/// Takes nlohmann's events. It stops at the first event that breaks a limit, so nothing grows with the input beyond it.
class json_tape_builder {
 public:
  json_tape_builder(std::string_view origin, std::string_view source, const json_limits& limits)
      : origin_(origin),
        source_(source),
        limits_(limits) {}

  bool null() { return push(json_kind::null); }
  bool boolean(bool value) { return push(json_kind::boolean, value ? 1 : 0); }
  bool number_integer(std::int64_t value) { return push(json_kind::integer, static_cast<std::uint64_t>(value)); }
  bool number_unsigned(std::uint64_t value) { return push(json_kind::unsigned_integer, value); }
  bool number_float(double value, const std::string&) {
    return push(json_kind::real, std::bit_cast<std::uint64_t>(value));
  }
  bool string(const std::string& value) { return push(json_kind::string, store(value), value.size()); }
  bool binary(const std::vector<std::uint8_t>&) { return false; }  // not part of JSON
  bool start_object(std::size_t) { return open(json_kind::object); }
  bool key(const std::string& value) {
    where_.back().key = value;
    return push(json_kind::key, store(value), value.size());
  }
  bool end_object() { return close(json_kind::object_end); }
  bool start_array(std::size_t) { return open(json_kind::array); }
  bool end_array() { return close(json_kind::array_end); }

  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::json::exception& fault) {
    // Its text reads "[json.exception.parse_error.101] parse error at line 1, column 5: the reason".
    std::string_view reason = fault.what();
    const std::size_t colon = reason.find(": ");
    const std::size_t bracket = reason.find("] ");
    if (reason.find("parse error") != reason.npos && colon != reason.npos)
      reason.remove_prefix(colon + 2);
    else if (bracket != reason.npos)
      reason.remove_prefix(bracket + 2);
    fail(text(line_and_column(source_, position), path().empty() ? "" : " (in ", path(), path().empty() ? "" : ")",
              ": ", reason));
  }

  [[nodiscard]] json_tape take() { return std::move(tape_); }

 private:
  struct level {
    bool list = false;
    std::size_t index = 0;
    std::string key;
  };

  [[noreturn]] void fail(const std::string& sentence) const {
    raise(error_code::bad_file, text(origin_, ": ", sentence));
  }

  [[nodiscard]] std::string path() const {
    std::string out;
    for (const level& l : where_) {
      if (l.list)
        out += text('[', l.index, ']');
      else
        out += text(out.empty() ? "" : ".", std::string_view(l.key).substr(0, 64));
    }
    return out;
  }

  bool push(json_kind kind, std::uint64_t bits = 0, std::size_t length = 0) {
    if (tape_.tokens.size() >= limits_.values)
      fail(text("more than ", limits_.values, " values and brackets, which is the limit (in ", path(), ")"));
    tape_.tokens.push_back({kind, static_cast<std::uint32_t>(length), bits});
    const bool opens = kind == json_kind::object || kind == json_kind::array;
    if (!opens && kind != json_kind::key && !where_.empty() && where_.back().list) ++where_.back().index;
    return true;
  }
  bool open(json_kind kind) {
    if (where_.size() >= limits_.depth)
      fail(text(path(), ": more than ", limits_.depth, " brackets inside each other, which is the limit"));
    push(kind);
    where_.push_back({kind == json_kind::array, 0, {}});
    return true;
  }
  bool close(json_kind kind) {
    where_.pop_back();
    return push(kind);
  }
  /// Field names and other short words come again and again; each is kept once.
  std::uint64_t store(const std::string& value) {
    constexpr std::size_t short_word = 32;
    constexpr std::size_t most_words = 1024;
    if (value.size() <= short_word) {
      const auto known = words_.find(value);
      if (known != words_.end()) return known->second;
      if (words_.size() < most_words) words_.emplace(value, tape_.pool.size());
    }
    tape_.pool += value;
    return tape_.pool.size() - value.size();
  }

  std::string_view origin_;
  std::string_view source_;
  json_limits limits_;
  json_tape tape_;
  std::vector<level> where_;
  std::map<std::string, std::uint64_t> words_;
};

/// Reads a JSON text into a tape. `origin` is how errors call the text, e.g. the file's name.
/// Errors: `bad_file` with line and column (syntax) or with the field path (a limit).
inline json_tape read_json(std::string_view source, std::string_view origin, const json_limits& limits) {
  if (source.size() > limits.size)
    raise(error_code::bad_file, text(origin, ": longer than ", limits.size, " bytes, which is the limit"));
  json_tape_builder builder(origin, source, limits);
  nlohmann::json::sax_parse(source.begin(), source.end(), &builder);
  return builder.take();
}

}  // namespace brim::detail
