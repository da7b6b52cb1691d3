// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paths.hpp"

#include <brim/core/error.hpp>
#include <brim/scheme/scheme.hpp>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace test_support {

/// The words of a line.
inline std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> words;
  std::stringstream in(line);
  for (std::string word; std::getline(in, word, separator);) words.push_back(word);
  return words;
}

/// One line of a CSV file, by column.
using record = std::map<std::string, std::string>;

/// Reads `tests/golden/data/<name>`; lines that start with `#` are comments, the next one names the columns.
inline std::vector<record> read_csv(const std::string& name) {
  std::ifstream in(golden_dir() / "data" / name);
  if (!in) brim::raise(brim::error_code::io_failure, "cannot read " + name);
  std::vector<record> rows;
  std::vector<std::string> columns;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> cells = split(line, ',');
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    if (cells.size() != columns.size())
      brim::raise(brim::error_code::bad_file, name + ": wrong number of cells: " + line);
    record row;
    for (std::size_t c = 0; c < cells.size(); ++c) row[columns[c]] = cells[c];
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Every scheme that brim ships.
using shipped_schemes =
    std::tuple<brim::schemes::gpipe, brim::schemes::one_f_one_b, brim::schemes::eager_one_f_one_b,
               brim::schemes::seq_one_f_one_b, brim::schemes::interleaved_one_f_one_b, brim::schemes::looped_bfs,
               brim::schemes::chimera, brim::schemes::zero_bubble_h1, brim::schemes::zero_bubble_h2,
               brim::schemes::interleaved_zero_bubble, brim::schemes::grouped_interleave, brim::schemes::zero_bubble_v,
               brim::schemes::v_half, brim::schemes::v_min, brim::schemes::hanayo, brim::schemes::bitpipe,
               brim::schemes::gems>;

inline std::vector<std::string> scheme_names() {
  return std::apply([](const auto&... s) { return std::vector<std::string>{std::string(s.name)...}; },
                    shipped_schemes{});
}

/// Calls `use` with the shipped scheme of that name.
template <class Use, std::size_t I = 0>
auto with_scheme(std::string_view name, Use use) {
  using scheme = std::tuple_element_t<I, shipped_schemes>;
  if (name == scheme::name) return use(scheme{});
  if constexpr (I + 1 < std::tuple_size_v<shipped_schemes>)
    return with_scheme<Use, I + 1>(name, use);
  else
    brim::raise(brim::error_code::io_failure, "no such scheme: " + std::string(name));
}

/// Whether the scheme of that name takes the shape.
inline bool accepts(std::string_view name, const brim::pipeline_shape& shape) {
  return shape.pairs <= shape.devices &&
         with_scheme(name, [&](const auto& scheme) { return brim::refusal_of(scheme, shape).empty(); });
}

}  // namespace test_support
