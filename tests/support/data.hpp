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

/// Calls `use` with the shipped scheme of that name.
template <class Use>
auto with_scheme(std::string_view name, Use use) {
  if (name == brim::schemes::gpipe::name) return use(brim::schemes::gpipe{});
  if (name == brim::schemes::one_f_one_b::name) return use(brim::schemes::one_f_one_b{});
  if (name == brim::schemes::interleaved_one_f_one_b::name) return use(brim::schemes::interleaved_one_f_one_b{});
  if (name == brim::schemes::looped_bfs::name) return use(brim::schemes::looped_bfs{});
  if (name == brim::schemes::chimera::name) return use(brim::schemes::chimera{});
  brim::raise(brim::error_code::io_failure, "no such scheme: " + std::string(name));
}

}  // namespace test_support
