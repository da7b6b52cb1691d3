// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace test_support {

/// The root of the repository.
[[nodiscard]] std::filesystem::path source_dir();

/// Where the golden files lie: tests/golden.
[[nodiscard]] std::filesystem::path golden_dir();

/// A folder of the build tree that a test may fill; it exists.
[[nodiscard]] std::filesystem::path scratch_dir();

/// The brim command of this build; empty when it is not built.
[[nodiscard]] std::filesystem::path tool();

/// True when the caller asked for golden files to be rewritten instead of compared (UPDATE_GOLDEN is set).
[[nodiscard]] bool update_golden();

}  // namespace test_support
