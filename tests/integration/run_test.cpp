// SPDX-License-Identifier: Apache-2.0
// ./run in a pipe: a copy in an empty folder, with a cmake that builds nothing.
#include "tool.hpp"

namespace {

using namespace tool_test;

void write_program(const fs::path& path, const std::string& body) {
  fs::create_directories(path.parent_path());
  write(path, "#!/bin/sh\n" + body);
  fs::permissions(path, fs::perms::owner_all);
}

/// What `./run demo` says where `cmake` does this.
result demo(const workshop& place, const std::string& cmake) {
  fs::create_directories(place / "examples/brim");
  fs::copy_file(test_support::source_dir() / "run", place / "run", fs::copy_options::overwrite_existing);
  write_program(place / "bin/cmake", cmake);
  write_program(place / "build/release/examples/brim", "echo planned\n");
  const std::string command = "PATH='" + (place / "bin").string() + "':\"$PATH\" sh '" + (place / "run").string() +
                              "' demo >'" + (place / "out").string() + "' 2>'" + (place / "err").string() + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(place / "out"), content_of(place / "err")};
}

}  // namespace

TEST_CASE("run says what it builds and where the log is, and at the end what to try") {
  const workshop place("run");
  const result got = demo(place, "echo noise\n");
  CHECK_MESSAGE(got.code == 0, got.err);
  const std::string building = "== building release; the log is build/release/build.log\n";
  CHECK(got.out.find(building) < got.out.find("planned\n"));
  CHECK(got.out.find("noise") == std::string::npos);
  CHECK(content_of(place / "build/release/build.log") == "noise\n");
  const std::string tool = fs::canonical(place / "build/release/examples/brim").string();
  CHECK(got.out.find("== the command is " + tool + "; try\n") < got.out.find(" compare --profile "));
}

TEST_CASE("run shows the log of what fails") {
  const workshop place("run_fails");
  const result got = demo(place, "echo noise; exit 3\n");
  CHECK(got.code == 1);
  CHECK(got.out.find("noise\n") != std::string::npos);
  CHECK(got.err.rfind("run: failed: cmake", 0) == 0);
}
