// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// The house rules as functions over text. Each returns complaints; none means that the rule is kept.
/// `folder` is the folder of a header below include/brim, empty for the headers that lie directly in it.
namespace structure {

using complaints = std::vector<std::string>;

/// Folder -> the folders just below it. What is below those may be included too.
inline const std::map<std::string, std::set<std::string>>& levels() {
  static const std::map<std::string, std::set<std::string>> table{
      {"core", {}},
      {"model", {"core"}},
      {"scheme", {"model"}},
      {"schedule", {"scheme"}},
      {"graph", {"scheme"}},
      {"fill", {"schedule"}},
      {"search", {"schedule"}},
      {"plan", {"fill"}},
      {"replay", {"plan"}},
      {"optimizer", {"core"}},
      {"io", {"plan"}},
      {"linalg", {"core"}},
      {"precondition", {"linalg", "model"}},
  };
  return table;
}

/// The folders whose headers the umbrella may include: those that need nothing but the standard library.
inline const std::set<std::string>& umbrella_folders() {
  static const std::set<std::string> table{"core", "model", "scheme", "schedule", "fill", "plan"};
  return table;
}

inline bool may_include(const std::string& from, const std::string& to) {
  if (from == to) return true;
  const auto below = levels().find(from);
  if (below == levels().end()) return false;
  return std::any_of(below->second.begin(), below->second.end(),
                     [&](const std::string& next) { return may_include(next, to); });
}

inline complaints check_levels(const std::string& folder, const std::string& text) {
  complaints found;
  if (!folder.empty() && levels().count(folder) == 0) found.push_back("folder " + folder + " has no level");
  for (const std::string& name : matches(directives(text), R"(^\s*#\s*include\s*<brim/([^>]*)>)")) {
    if (name == "version.hpp") continue;
    const std::string target = name.substr(0, name.find('/'));
    const bool fine = folder.empty() ? umbrella_folders().count(target) != 0 : may_include(folder, target);
    if (!fine) found.push_back("includes <brim/" + name + ">, which is not below it");
  }
  for (const std::string& name : matches(directives(text), R"re(^\s*#\s*include\s*"([^"]*)")re")) {
    found.push_back("includes \"" + name + "\": write <brim/...>");
  }
  return found;
}

/// What is neither brim nor the standard library belongs to the folders that say so.
inline complaints check_dependencies(const std::string& folder, const std::string& text) {
  static const std::map<std::string, std::string> allowed{
      {"graph", "boost/"}, {"io", "nlohmann/"}, {"linalg", "Eigen/"}, {"precondition", "Eigen/"}};
  complaints found;
  for (const std::string& name : matches(directives(text), R"(^\s*#\s*include\s*<([^>]*[./][^>]*)>)")) {
    if (name.rfind("brim/", 0) == 0 || folder == "replay") continue;
    const auto prefix = allowed.find(folder);
    if (prefix == allowed.end() || name.rfind(prefix->second, 0) != 0)
      found.push_back("may not depend on <" + name + ">");
  }
  return found;
}

inline complaints check_include_diet(const std::string& folder, const std::string& text) {
  static const std::set<std::string> heavy{"iostream", "regex", "functional", "ranges", "chrono", "memory"};
  complaints found;
  if (folder == "io" || folder == "replay") return found;
  for (const std::string& name : matches(directives(text), R"(^\s*#\s*include\s*<([a-z_]+)>)")) {
    if (heavy.count(name) != 0) found.push_back("includes <" + name + ">, too heavy below io and replay");
  }
  return found;
}

inline complaints check_length(const std::string& text, std::size_t cap = 500) {
  const std::size_t length = split(text).size();
  if (length <= cap) return {};
  return {"has " + std::to_string(length) + " lines, more than " + std::to_string(cap)};
}

inline complaints check_median_length(std::vector<std::size_t> lengths, std::size_t cap = 150) {
  if (lengths.empty()) return {"there are no headers"};
  std::sort(lengths.begin(), lengths.end());
  const std::size_t median = lengths[lengths.size() / 2];
  if (median <= cap) return {};
  return {"the median header has " + std::to_string(median) + " lines, more than " + std::to_string(cap)};
}

inline complaints check_pragma_once(const std::string& text) {
  for (const std::string& line : split(code_only(text))) {
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    if (line == "#pragma once") return {};
    break;
  }
  return {"does not start with #pragma once"};
}

inline complaints check_macros(const std::string& text) {
  static const std::set<std::string> allowed{"BRIM_EXPECT", "BRIM_HAS_EXCEPTIONS", "BRIM_VERSION"};
  complaints found;
  for (const std::string& name : matches(directives(code_only(text)), R"(^\s*#\s*define\s+(\w+))")) {
    if (allowed.count(name) == 0) found.push_back("defines the macro " + name);
  }
  return found;
}

/// Nothing that brim declares starts with an underscore or has two in a row. Using what the compiler provides is fine.
inline complaints check_reserved_names(const std::string& text) {
  static const std::set<std::string> provided{"__func__", "__FILE__", "__LINE__", "__VA_ARGS__", "__VA_OPT__"};
  complaints found;
  for (const std::string& line : split(code_only(text))) {
    const bool directive = line.find('#') != std::string::npos;
    if (directive && matches(line, R"(^\s*#\s*(define)\b)").empty()) continue;
    for (const std::string& name : identifiers(line)) {
      const bool reserved = (name[0] == '_' && name.size() > 1) || name.find("__") != std::string::npos;
      if (!reserved || provided.count(name) != 0 || name.rfind("__builtin_", 0) == 0) continue;
      found.push_back("uses the reserved name " + name);
    }
  }
  return found;
}

inline complaints check_concept_names(const std::string& text) {
  complaints found;
  const std::string code = code_only(text);
  if (code.find("concept") == std::string::npos) return found;
  for (const std::string& name : matches(code, R"(\bconcept\s+(\w+))")) {
    if (!std::regex_match(name, std::regex("[a-z][a-z0-9]*(_[a-z0-9]+)*"))) {
      found.push_back("the concept " + name + " is not in snake_case");
    }
  }
  return found;
}

/// Letters mean different things in different papers; only io speaks their dialects. `b` is the other side of a factor.
inline complaints check_letters(const std::string& folder, const std::string& text) {
  complaints found;
  const std::string code = code_only(text);
  if (folder == "io" || code.find("enum") == std::string::npos) return found;
  for (const std::string& body : matches(code, R"(\benum\b[^;{}]*\{([^}]*)\})")) {
    for (const std::string& name : matches(body, R"((?:^|,)\s*([FBWIfwi])\s*(?=$|[,=]))")) {
      found.push_back("the enumerator " + name + " is a letter; write the word");
    }
  }
  return found;
}

/// All rules that look at one header.
inline complaints check_header(const std::string& folder, const std::string& text) {
  complaints all;
  for (const complaints& some :
       {check_levels(folder, text), check_dependencies(folder, text), check_include_diet(folder, text),
        check_length(text), check_pragma_once(text), check_macros(text), check_reserved_names(text),
        check_concept_names(text), check_letters(folder, text)}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

inline complaints check_top_level(const std::set<std::string>& folders) {
  static const std::set<std::string> allowed{"include", "tests", "bench", "examples", "docs"};
  complaints found;
  for (const std::string& folder : folders) {
    if (allowed.count(folder) == 0) found.push_back("the repository may not have the folder " + folder);
  }
  return found;
}

/// One word = one folder = one test folder = one reference page.
inline complaints check_mirrors(const std::set<std::string>& folders, const std::set<std::string>& files) {
  complaints found;
  for (const std::string& folder : folders) {
    const std::string tests = "tests/unit/" + folder + "/";
    const std::string page = "docs/reference/" + folder + ".md";
    const auto first = files.lower_bound(tests);
    if (first == files.end() || first->rfind(tests, 0) != 0) found.push_back("there is no file in " + tests);
    if (files.count(page) == 0) found.push_back("there is no " + page);
  }
  return found;
}

inline complaints check_changelog(const std::string& text, const std::string& version) {
  for (const std::string& heading : matches(text, R"(^##\s+\[?([^\s\]]+))")) {
    if (heading == version || heading == "Unreleased") return {};
  }
  return {"CHANGELOG.md has a heading neither for " + version + " nor for Unreleased"};
}

}  // namespace structure
