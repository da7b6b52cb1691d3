// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/io/file.hpp>

#include <cstdio>
#include <string>

#include <nlohmann/json.hpp>

namespace bench {

/// Writes a program's tables where the command line asks for it.
inline void write_json(const std::string& file, const nlohmann::ordered_json& content) {
  if (file.empty()) return;
  brim::io::write_file(file, content.dump(1) + "\n");
  std::printf("written: %s\n", file.c_str());
}

}  // namespace bench
