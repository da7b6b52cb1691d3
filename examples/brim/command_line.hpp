// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "requests.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace tool {

/// What to print for `--help` and `--version`.
struct help_request {
  std::string text;
};
struct schemes_request {};

using request = std::variant<help_request, schemes_request, plan_request, compare_request, verify_request>;

/// Errors: `usage_error`.
[[nodiscard]] request parse_command_line(int count, const char* const* words);

/// A size with a unit, as in profiles: `16GiB`, `1.5 GB`, `800MiB`. Errors: `usage_error`.
[[nodiscard]] brim::bytes parse_size(std::string_view word);

}  // namespace tool
