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

TEST_CASE("README leads to every page and to the profiles, and CONTRIBUTING tells planned folders from real ones") {
  const fs::path root = test_support::source_dir();
  std::vector<std::string> targets{"docs/tutorial.md", "examples/profiles/", "docs/design/"};
  for (const char* folder : {"docs/how_to", "docs/reference"})
    for (const fs::directory_entry& entry : fs::directory_iterator(root / folder))
      targets.push_back(entry.path().lexically_relative(root).generic_string());
  const std::string readme = text_of(root / "README.md");
  for (const std::string& fault : structure::unlinked(readme.substr(readme.find("## Map")), targets))
    FAIL_CHECK("README, Map: " << fault);
  for (const std::string& fault :
       structure::wrong_folders(text_of(root / "CONTRIBUTING.md"),
                                [&](const std::string& name) { return fs::exists(root / "include/brim" / name); }))
    FAIL_CHECK("CONTRIBUTING: " << fault);
}

TEST_CASE("the checkers of the map and of the folders can fail") {
  CHECK(structure::unlinked("[a](a.md)", {"a.md"}).empty());
  CHECK(structure::unlinked("[a](a.md)", {"a.md", "b.md"}).size() == 1);
  const auto exists = [](const std::string& name) { return name == "core"; };
  CHECK(structure::wrong_folders("| 0 | `core` | x |\n| 6 | `replay` (planned) | x |\n", exists).empty());
  CHECK(structure::wrong_folders("| 6 | `replay` | x |\n", exists).size() == 1);
  CHECK(structure::wrong_folders("| 0 | `core` (planned) | x |\n", exists).size() == 1);
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
