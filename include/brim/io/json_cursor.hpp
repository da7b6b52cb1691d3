// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/io/json_tape.hpp>
#include <brim/io/json_writer.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace brim::detail {

/// A field of an object and what reads its value.
template <class Read>
struct json_field {
  std::string_view name;
  Read read;
  bool required;
};

template <class Read>
json_field<Read> required_field(std::string_view name, Read read) {
  return {name, read, true};
}
template <class Read>
json_field<Read> optional_field(std::string_view name, Read read) {
  return {name, read, false};
}

/// Walks over a tape and says exactly what is wrong where: the field path, the value, and what was expected.
class json_cursor {
 public:
  json_cursor(const json_tape& tape, std::string_view origin) : tape_(tape), origin_(origin) {}

  /// Reads an object of exactly these fields, in any order; unknown, repeated and missing ones are refused by name.
  template <class... Fields>
  void object(const Fields&... fields) {
    static_assert(sizeof...(Fields) <= 64);
    if (peek().kind != json_kind::object) fail("an object");
    ++at_;
    std::uint64_t seen = 0;
    while (peek().kind == json_kind::key) {
      const std::string_view name = tape_.text_of(tape_.tokens[at_++]);
      const std::size_t mark = enter(name);
      std::uint64_t bit = 1;
      bool known = false;
      (((known = known || take(fields, name, seen, bit)), bit <<= 1U), ...);
      if (!known) fail_field(text("unknown field; expected one of", (text(' ', fields.name) + ... + "")));
      path_.resize(mark);
    }
    ++at_;
    std::uint64_t bit = 1;
    ((require(fields, seen, bit), bit <<= 1U), ...);
  }

  /// Calls `read(index)` for each element of an array.
  template <class Read>
  void array(const Read& read) {
    if (peek().kind != json_kind::array) fail("an array");
    ++at_;
    for (std::size_t i = 0; peek().kind != json_kind::array_end; ++i) {
      const std::size_t mark = path_.size();
      path_ += text('[', i, ']');
      read(i);
      path_.resize(mark);
    }
    ++at_;
  }
  [[nodiscard]] bool at_array() const { return peek().kind == json_kind::array; }

  /// A text of at most `limit` bytes. Valid as long as the tape.
  [[nodiscard]] std::string_view string(std::size_t limit) {
    if (peek().kind != json_kind::string) fail("a text");
    if (peek().length > limit) fail(text("a text of at most ", limit, " bytes"));
    return tape_.text_of(tape_.tokens[at_++]);
  }

  /// A number without a fraction from `least` to `most`.
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) {
    const json_token& token = peek();
    std::int64_t value = 0;
    bool fits = false;
    if (token.kind == json_kind::integer || token.kind == json_kind::unsigned_integer) {
      value = static_cast<std::int64_t>(token.bits);
      fits = token.kind == json_kind::integer || value >= 0;
    }
    if (!fits || value < least || value > most) fail(text("a whole number from ", least, " to ", most));
    ++at_;
    return value;
  }

  /// A number from `least` to `most`; `expected` describes it.
  [[nodiscard]] double number(double least, double most, std::string_view expected) {
    const double value = real_of(peek());
    if (!(value >= least && value <= most)) fail(expected);
    ++at_;
    return value;
  }

  /// A number that is not negative, times `scale`, rounded to the nearest integer, halves upwards; at most `most`.
  [[nodiscard]] std::int64_t scaled(std::int64_t scale, std::int64_t most, std::string_view expected) {
    const json_token& token = peek();
    if (token.kind == json_kind::unsigned_integer && token.bits <= static_cast<std::uint64_t>(most / scale)) {
      ++at_;
      return static_cast<std::int64_t>(token.bits) * scale;
    }
    const double product = real_of(token) * static_cast<double>(scale);
    if (!(product >= 0 && product <= static_cast<double>(most))) fail(expected);
    ++at_;
    return std::llround(product);
  }

  /// A text of the file in a message: short, on one line, in quotes.
  [[nodiscard]] static std::string quoted(std::string_view name) {
    constexpr std::size_t shown = 40;
    std::string out = "\"";
    append_json_escaped(out, name.substr(0, shown));
    return out += name.size() > shown ? "...\"" : "\"";
  }

  /// Stops: the value at the cursor is not what was expected.
  [[noreturn]] void fail(std::string_view expected) const {
    raise_here(text(path_.empty() ? "the text" : path_, " is ", describe(peek()), "; expected ", expected));
  }
  /// Stops: something about the field at the cursor as a whole.
  [[noreturn]] void fail_field(std::string_view sentence) const {
    raise_here(text(path_.empty() ? "the text" : path_, ": ", sentence));
  }

  /// A value that is read later, when something that comes after it in the text is known.
  struct postponed {
    std::size_t at = 0;
    std::string path;
  };
  [[nodiscard]] postponed postpone() {
    postponed value{at_, path_};
    std::size_t open = 0;
    do {
      const json_kind kind = tape_.tokens[at_++].kind;
      if (kind == json_kind::object || kind == json_kind::array) ++open;
      if (kind == json_kind::object_end || kind == json_kind::array_end) --open;
    } while (open != 0);
    return value;
  }
  void go_back(const postponed& value) {
    at_ = value.at;
    path_ = value.path;
  }

 private:
  [[nodiscard]] const json_token& peek() const { return tape_.tokens[at_]; }

  std::size_t enter(std::string_view name) {
    const std::size_t mark = path_.size();
    if (mark != 0) path_ += '.';
    append_json_escaped(path_, name.substr(0, 64));
    return mark;
  }

  template <class Field>
  bool take(const Field& field, std::string_view name, std::uint64_t& seen, std::uint64_t bit) {
    if (field.name != name) return false;
    if ((seen & bit) != 0) fail_field("it is there twice");
    seen |= bit;
    field.read();
    return true;
  }
  template <class Field>
  void require(const Field& field, std::uint64_t seen, std::uint64_t bit) {
    if (!field.required || (seen & bit) != 0) return;
    enter(field.name);
    fail_field("it is missing, and required");
  }

  [[nodiscard]] static double real_of(const json_token& token) {
    switch (token.kind) {
      case json_kind::integer: return static_cast<double>(static_cast<std::int64_t>(token.bits));
      case json_kind::unsigned_integer: return static_cast<double>(token.bits);
      case json_kind::real: return std::bit_cast<double>(token.bits);
      default: return std::numeric_limits<double>::quiet_NaN();
    }
  }

  [[nodiscard]] std::string describe(const json_token& token) const {
    std::string out;
    switch (token.kind) {
      case json_kind::null: return "null";
      case json_kind::boolean: return token.bits != 0 ? "true" : "false";
      case json_kind::integer: append_number(out, static_cast<std::int64_t>(token.bits)); break;
      case json_kind::unsigned_integer: append_number(out, token.bits); break;
      case json_kind::real: append_number(out, std::bit_cast<double>(token.bits)); break;
      case json_kind::string: return quoted(tape_.text_of(token));
      case json_kind::array: return "an array";
      default: return "an object";
    }
    return out;
  }

  [[noreturn]] void raise_here(const std::string& sentence) const {
    raise(error_code::bad_file, text(origin_, ": ", sentence));
  }

  const json_tape& tape_;
  std::string_view origin_;
  std::size_t at_ = 0;
  std::string path_;
};

}  // namespace brim::detail
