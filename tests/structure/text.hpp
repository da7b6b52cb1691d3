// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <regex>
#include <string>
#include <vector>

/// Text tools of the structure checks.
namespace structure {

using lines = std::vector<std::string>;

inline lines split(const std::string& text) {
  lines result(1);
  for (const char c : text) {
    if (c == '\n') {
      result.emplace_back();
    } else {
      result.back() += c;
    }
  }
  if (result.back().empty()) result.pop_back();
  return result;
}

/// The code without comments, and without what is inside string and character literals. Line ends stay.
inline std::string code_only(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit_separator =
        i > 0 && text[i] == '\'' && std::isxdigit(static_cast<unsigned char>(text[i - 1])) != 0;
    if (text.compare(i, 2, "//") == 0) {
      while (i < text.size() && text[i] != '\n') ++i;
      if (i < text.size()) result += '\n';
    } else if (text.compare(i, 2, "/*") == 0) {
      for (i += 2; i < text.size() && text.compare(i, 2, "*/") != 0; ++i) {
        if (text[i] == '\n') result += '\n';
      }
      ++i;
    } else if (text.compare(i, 2, "R\"") == 0) {
      const std::size_t open = text.find('(', i);
      const std::string close = ")" + text.substr(i + 2, open - i - 2) + "\"";
      const std::size_t end = std::min(text.find(close, open), text.size() - 1);
      for (const char c : text.substr(i, end - i)) {
        if (c == '\n') result += '\n';
      }
      i = std::min(end + close.size() - 1, text.size() - 1);
      result += "\"\"";
    } else if ((text[i] == '"' || text[i] == '\'') && !digit_separator) {
      const char quote = text[i];
      for (++i; i < text.size() && text[i] != quote && text[i] != '\n'; ++i) {
        if (text[i] == '\\') ++i;
      }
      result += quote;
      result += quote;
    } else {
      result += text[i];
    }
  }
  return result;
}

/// The first capture of every match, from top to bottom.
inline lines matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern, std::regex::ECMAScript | std::regex::multiline);
  lines result;
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i) result.push_back((*i)[1]);
  return result;
}

/// The lines that are preprocessor directives, which is where most rules look.
inline std::string directives(const std::string& text) {
  std::string result;
  for (const std::string& line : split(text)) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first != std::string::npos && line[first] == '#') result += line + '\n';
  }
  return result;
}

/// Every identifier of a line, except the suffix of a literal operator.
inline lines identifiers(const std::string& line) {
  const auto inside = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  lines result;
  for (std::size_t i = 0; i < line.size();) {
    if (!inside(line[i])) {
      ++i;
      continue;
    }
    const std::size_t start = i;
    while (i < line.size() && inside(line[i])) ++i;
    const bool suffix = start > 0 && line[start - 1] == '"';
    const bool number = std::isdigit(static_cast<unsigned char>(line[start])) != 0;
    if (!suffix && !number) result.push_back(line.substr(start, i - start));
  }
  return result;
}

}  // namespace structure
