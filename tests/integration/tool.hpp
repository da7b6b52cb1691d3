// SPDX-License-Identifier: Apache-2.0
// Runs the brim command as a shell would.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <paths.hpp>
#include <set>
#include <string>
#include <vector>

namespace tool_test {

namespace fs = std::filesystem;

struct result {
  int code = -1;    ///< −1 where a signal ended the command
  std::string out;  ///< standard output, which was not a terminal
  std::string err;
};

inline std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// An empty folder for one test; commands run in it.
class workshop {
 public:
  explicit workshop(const std::string& name) : folder_(test_support::scratch_dir() / ("tool_" + name)) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::remove_all(said());
    fs::create_directories(said());
  }

  [[nodiscard]] result brim(const std::vector<std::string>& words) const {
    std::string command = "cd " + quoted(folder_.string()) + " && " + quoted(test_support::tool().string());
    for (const std::string& word : words) command += ' ' + quoted(word);
    command += " >" + quoted((said() / "out").string()) + " 2>" + quoted((said() / "err").string());
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(said() / "out"), content_of(said() / "err")};
  }
  [[nodiscard]] fs::path operator/(const std::string& name) const { return folder_ / name; }
  /// Names of all files that the commands have left.
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
      names.insert(entry.path().filename().string());
    return names;
  }

 private:
  [[nodiscard]] fs::path said() const { return folder_.string() + ".said"; }
  static std::string quoted(const std::string& word) {
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + '\'';
  }

  fs::path folder_;
};

/// A profile of the examples.
inline std::string example(const std::string& name) {
  return (test_support::source_dir() / "examples" / "profiles" / (name + ".json")).string();
}

/// Two layers on each of four stages, with times that suit a small golden file.
inline std::string small_profile(const std::string& more = "") {
  return R"({"format": "brim.profile/1", "name": "small", "time_unit": "ms", "memory_unit": "MiB",
 "stages": [{"count": 4, "forward": 10, "backward": 20, "memory": {"weights": 100, "activations": 50},
   "layers": [{"count": 2, "statistic": {"a": 2, "b": 2}, "refresh": {"a": 4, "b": 4}, "precondition": 1,
               "memory": {"saved_inputs": 5, "saved_errors": 5, "factors": 8}}]}])" +
         more + "}\n";
}

}  // namespace tool_test
