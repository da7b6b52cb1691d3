// SPDX-License-Identifier: Apache-2.0
#include "paths.hpp"

#include <cstdlib>

namespace test_support {

std::filesystem::path source_dir() { return SOURCE_DIR; }

std::filesystem::path golden_dir() { return source_dir() / "tests" / "golden"; }

std::filesystem::path scratch_dir() {
  std::filesystem::create_directories(SCRATCH_DIR);
  return SCRATCH_DIR;
}

std::filesystem::path tool() { return TOOL; }

bool update_golden() { return std::getenv("UPDATE_GOLDEN") != nullptr; }

}  // namespace test_support
