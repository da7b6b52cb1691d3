// SPDX-License-Identifier: Apache-2.0
// The house rules, applied to this repository.
#include "checks.hpp"

#include <brim/version.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <paths.hpp>

namespace {

namespace fs = std::filesystem;
using namespace structure;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), "cannot read " << path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Every file below a folder, named from the root of the repository.
std::set<std::string> files_below(const std::string& folder) {
  std::set<std::string> files;
  const fs::path root = test_support::source_dir();
  if (!fs::exists(root / folder)) return files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
    if (entry.is_regular_file()) files.insert(entry.path().lexically_relative(root).generic_string());
  }
  return files;
}

std::vector<std::string> headers() {
  std::vector<std::string> result;
  for (const std::string& file : files_below("include")) {
    if (file.size() > 4 && file.substr(file.size() - 4) == ".hpp") result.push_back(file);
  }
  return result;
}

/// "core" of include/brim/core/ticks.hpp; empty for include/brim/brim.hpp.
std::string folder_of(const std::string& header) {
  const std::string below = header.substr(std::string("include/brim/").size());
  return below.find('/') == std::string::npos ? "" : below.substr(0, below.find('/'));
}

/// What git tracks, one file a line; empty in a tree without git.
std::string tracked_files() {
  const std::string command =
      "git -c safe.directory='*' -C '" + test_support::source_dir().string() + "' ls-files 2>/dev/null";
  FILE* git = popen(command.c_str(), "r");
  if (git == nullptr) return {};
  std::string said;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), static_cast<int>(part.size()), git) != nullptr) said += part.data();
  return pclose(git) == 0 ? said : std::string();
}

/// The folders at the top that belong to the repository: those with tracked files, or all of a tree without git.
std::set<std::string> top_level_folders() {
  std::set<std::string> folders;
  for (const std::string& name : matches(tracked_files(), R"(^([^./][^/\n]*)/)")) folders.insert(name);
  if (!folders.empty()) return folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(test_support::source_dir())) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name[0] != '.' && name != "build") folders.insert(name);
  }
  return folders;
}

void report(const std::string& where, const complaints& found) {
  for (const std::string& complaint : found) FAIL_CHECK(where << ": " << complaint);
}

}  // namespace

TEST_CASE("every header keeps the rules") {
  std::vector<std::size_t> lengths;
  for (const std::string& header : headers()) {
    const std::string text = read(test_support::source_dir() / header);
    report(header, check_header(folder_of(header), text));
    lengths.push_back(split(text).size());
  }
  report("include", check_median_length(lengths));
}

TEST_CASE("every folder has its tests and its reference page") {
  std::set<std::string> folders;
  for (const std::string& header : headers()) folders.insert(folder_of(header));
  folders.erase("");
  std::set<std::string> files = files_below("tests/unit");
  files.merge(files_below("docs/reference"));
  report("mirror", check_mirrors(folders, files));
}

TEST_CASE("the top level has only the folders that it should have") {
  report("top level", check_top_level(top_level_folders()));
}

TEST_CASE("the changelog knows this version") {
  const std::string version = std::to_string(brim::version_major) + "." + std::to_string(brim::version_minor) + "." +
                              std::to_string(brim::version_patch);
  report("CHANGELOG.md", check_changelog(read(test_support::source_dir() / "CHANGELOG.md"), version));
}
