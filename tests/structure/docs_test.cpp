// SPDX-License-Identifier: Apache-2.0
// Nothing is typed twice: code and output in the documentation are those of the examples.
#include "docs.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <paths.hpp>

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<fs::path> pages() {
  const fs::path root = test_support::source_dir();
  std::vector<fs::path> found{root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md"};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

}  // namespace

TEST_CASE("quotes in the documentation are what the files say") {
  for (const fs::path& page : pages())
    for (const std::string& fault : structure::stale_quotes(page.string(), text_of(page), [](const std::string& path) {
           return text_of(test_support::source_dir() / path);
         }))
      FAIL_CHECK(fault);
}

TEST_CASE("links between pages lead somewhere") {
  for (const fs::path& page : pages())
    for (const std::string& fault :
         structure::broken_links(page.string(), text_of(page),
                                 [&](const std::string& target) { return fs::exists(page.parent_path() / target); }))
      FAIL_CHECK(fault);
}

TEST_CASE("the checker of quotes sees a stale block, a missing file and a missing block") {
  const auto read = [](const std::string& path) -> std::string {
    return path == "a.cpp" ? "one\n// [part]\ntwo\n// [/part]\nthree\n" : "";
  };
  CHECK(structure::stale_quotes("p", "<!-- from: a.cpp#part -->\n```cpp\ntwo\n```\n", read).empty());
  CHECK(structure::stale_quotes("p", "<!-- from: a.cpp#part -->\n```cpp\n2\n```\n", read).size() == 1);
  CHECK(structure::stale_quotes("p", "<!-- from: a.cpp#other -->\n```cpp\ntwo\n```\n", read).size() == 1);
  CHECK(structure::stale_quotes("p", "<!-- from: b.cpp -->\n```cpp\n```\n", read).size() == 1);
  CHECK(structure::stale_quotes("p", "<!-- from: a.cpp#part -->\ntwo\n", read).size() == 1);
}

TEST_CASE("the checker of links sees a link that leads nowhere") {
  const auto exists = [](const std::string& path) { return path == "there.md"; };
  CHECK(structure::broken_links("p", "[a](there.md#part) [b](https://example.org/x) [c](#here)", exists).empty());
  CHECK(structure::broken_links("p", "[a](gone.md)", exists).size() == 1);
}
