// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace bench {

/// Text, a number, or nothing.
class cell {
 public:
  cell() = default;
  cell(std::string text) : value_(std::move(text)) {}         // NOLINT(google-explicit-constructor): rows are lists
  cell(std::string_view text) : value_(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  cell(const char* text) : value_(std::string(text)) {}       // NOLINT(google-explicit-constructor)
  cell(double number) : value_(number) {}                     // NOLINT(google-explicit-constructor)
  template <std::integral Integer>
  cell(Integer number) : value_(static_cast<std::int64_t>(number)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool is_text() const { return std::holds_alternative<std::string>(value_); }
  [[nodiscard]] std::string text(int decimals) const {
    if (const auto* text = std::get_if<std::string>(&value_)) return *text;
    if (const auto* integer = std::get_if<std::int64_t>(&value_)) return std::to_string(*integer);
    if (const auto* number = std::get_if<double>(&value_)) {
      char digits[64];
      std::snprintf(digits, sizeof digits, "%.*f", decimals, *number);
      return digits;
    }
    return "-";
  }
  [[nodiscard]] nlohmann::ordered_json json() const {
    return std::visit(
        [](const auto& value) -> nlohmann::ordered_json {
          if constexpr (std::same_as<std::remove_cvref_t<decltype(value)>, std::monostate>)
            return nullptr;
          else
            return value;
        },
        value_);
  }

 private:
  std::variant<std::monostate, std::string, double, std::int64_t> value_;
};

struct column {
  std::string key;      ///< in JSON
  std::string heading;  ///< on paper; ASCII
  int decimals = 1;     ///< on paper
};

/// Rows under columns, on paper or as JSON.
class table {
 public:
  table(std::string title, std::vector<column> columns) : title_(std::move(title)), columns_(std::move(columns)) {}

  void add(std::vector<cell> row) { rows_.push_back(std::move(row)); }

  void print() const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      widths.push_back(columns_[c].heading.size());
      for (const auto& row : rows_) widths[c] = std::max(widths[c], row[c].text(columns_[c].decimals).size());
    }
    std::printf("%s\n", title_.c_str());
    print_row(widths, [&](std::size_t c) { return columns_[c].heading; });
    for (const auto& row : rows_) print_row(widths, [&](std::size_t c) { return row[c].text(columns_[c].decimals); });
    std::printf("\n");
  }

  [[nodiscard]] nlohmann::ordered_json json() const {
    auto out = nlohmann::ordered_json::array();
    for (const auto& row : rows_) {
      nlohmann::ordered_json entry;
      for (std::size_t c = 0; c < columns_.size(); ++c) entry[columns_[c].key] = row[c].json();
      out.push_back(std::move(entry));
    }
    return out;
  }

 private:
  /// A column is flush left where its first row holds text.
  template <class Text>
  void print_row(const std::vector<std::size_t>& widths, Text text) const {
    std::string line;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const std::string word = text(c);
      const std::string padding(widths[c] - word.size(), ' ');
      const bool left = !rows_.empty() && rows_.front()[c].is_text();
      line += left ? word + padding : padding + word;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }

  std::string title_;
  std::vector<column> columns_;
  std::vector<std::vector<cell>> rows_;
};

}  // namespace bench
