// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <paths.hpp>
#include <string>

namespace golden {

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Empty where `text` equals the file; otherwise the first line that differs. With `rewrite` the file is written instead.
inline std::string difference(const std::filesystem::path& file, const std::string& text, bool rewrite) {
  if (rewrite) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return {};
  }
  if (!std::filesystem::exists(file)) return "there is no " + file.string() + "; set UPDATE_GOLDEN to write it";
  const std::string want = content_of(file);
  if (want == text) return {};
  std::size_t line = 1;
  std::size_t start = 0;
  std::size_t at = 0;
  for (; at < want.size() && at < text.size() && want[at] == text[at]; ++at)
    if (want[at] == '\n') {
      ++line;
      start = at + 1;
    }
  const auto line_of = [&](const std::string& all) {
    return start < all.size() ? all.substr(start, all.find('\n', start) - start) : "(the end)";
  };
  return "line " + std::to_string(line) + " of " + file.filename().string() + " should be\n  " + line_of(want) +
         "\nand is\n  " + line_of(text);
}

/// Compares with tests/golden/io/`name`.
inline std::string difference(const std::string& name, const std::string& text) {
  return difference(test_support::golden_dir() / "io" / name, text, test_support::update_golden());
}

}  // namespace golden
