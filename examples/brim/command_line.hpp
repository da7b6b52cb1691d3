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

using request =
    std::variant<help_request, schemes_request, plan_request, compare_request, search_request, verify_request>;

/// Errors: `usage_error`.
[[nodiscard]] request parse_command_line(int count, const char* const* words);

/// What a search may cost: `1s`, `250ms`, or a number of operations. Errors: `usage_error`.
void parse_budget(std::string_view word, search_wishes& wishes);

/// A size with a unit, as in profiles: `16GiB`, `1.5 GB`, `800MiB`. Errors: `usage_error`.
[[nodiscard]] brim::bytes parse_size(std::string_view word);

}  // namespace tool
