// SPDX-License-Identifier: Apache-2.0
#include "golden.hpp"

#include <brim/io/file.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

namespace {

namespace fs = std::filesystem;

/// A fresh folder for one test case.
fs::path fresh_folder(const char* name) {
  const fs::path folder = test_support::scratch_dir() / "io_file" / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

std::size_t files_in(const fs::path& folder) {
  std::size_t count = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) count += entry.exists() ? 1U : 0U;
  return count;
}

template <class Action>
brim::error failure_of(Action action) {
  try {
    action();
  } catch (const brim::error& e) {
    return e;
  }
  return {brim::error_code::bad_shape, "nothing was thrown"};
}

}  // namespace

TEST_CASE("write_file: what is written is what is read, and nothing else is left") {
  const fs::path folder = fresh_folder("round_trip");
  const std::string content("line\r\n\0binary", 13);
  brim::io::write_file(folder / "out.txt", content);
  CHECK(brim::io::read_file(folder / "out.txt", 1000) == content);
  brim::io::write_file(folder / "out.txt", "shorter");
  CHECK(brim::io::read_file(folder / "out.txt", 1000) == "shorter");
  CHECK(files_in(folder) == 1);
}

TEST_CASE("write_file: a name that is taken by another process is left alone") {
  const fs::path folder = fresh_folder("taken");
  for (int i = 0; i < 40; ++i) {
    fs::path name = folder / "out.txt";
    name += ".tmp" + std::to_string(i);
    brim::io::write_file(name, "theirs");
  }
  brim::io::write_file(folder / "out.txt", "ours");
  CHECK(files_in(folder) == 41);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    CHECK(golden::content_of(entry.path()) == (entry.path().extension() == ".txt" ? "ours" : "theirs"));
}

TEST_CASE("write_file: a link stays a link, and permissions stay") {
  const fs::path folder = fresh_folder("link");
  brim::io::write_file(folder / "target", "old");
  fs::permissions(folder / "target", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("target", folder / "link");
  brim::io::write_file(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(golden::content_of(folder / "target") == "new");
  CHECK(fs::status(folder / "target").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("write_file: failures name the path and leave nothing") {
  const fs::path folder = fresh_folder("failure");
  const brim::error missing = failure_of([&] { brim::io::write_file(folder / "no" / "such" / "out.txt", "x"); });
  CHECK(missing.code() == brim::error_code::io_failure);
  CHECK(std::string(missing.what()).find("out.txt: cannot write: ") != std::string::npos);
  CHECK(failure_of([&] { brim::io::write_file(folder, "x"); }).code() == brim::error_code::io_failure);
  if (fs::exists("/dev/full")) {
    const brim::error full = failure_of([&] { brim::io::write_file("/dev/full", "x"); });
    CHECK(full.code() == brim::error_code::io_failure);
    CHECK(fs::is_character_file("/dev/full"));  // a device is written, not replaced
  }
  CHECK(files_in(folder) == 0);
}

TEST_CASE("read_file: missing, a folder, too long") {
  const fs::path folder = fresh_folder("read");
  CHECK(failure_of([&] { (void)brim::io::read_file(folder / "none", 10); }).code() == brim::error_code::io_failure);
  CHECK(failure_of([&] { (void)brim::io::read_file(folder, 10); }).code() == brim::error_code::io_failure);
  brim::io::write_file(folder / "long", std::string(200'000, 'x'));
  CHECK(brim::io::read_file(folder / "long", 200'000).size() == 200'000);
  CHECK(failure_of([&] { (void)brim::io::read_file(folder / "long", 199'999); }).code() == brim::error_code::bad_file);
  brim::io::write_file(folder / "empty", "");
  CHECK(brim::io::read_file(folder / "empty", 0).empty());
}

TEST_CASE("the golden helper sees a difference, a missing file, and can rewrite") {
  const fs::path file = fresh_folder("golden") / "g.txt";
  CHECK(golden::difference(file, "a\nb\n", false).find("there is no") == 0);
  CHECK(golden::difference(file, "a\nb\n", true).empty());
  CHECK(golden::difference(file, "a\nb\n", false).empty());
  CHECK(golden::difference(file, "a\nc\n", false) == "line 2 of g.txt should be\n  b\nand is\n  c");
  CHECK(golden::difference(file, "a\n", false).find("(the end)") != std::string::npos);
}
