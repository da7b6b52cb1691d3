// SPDX-License-Identifier: Apache-2.0
// Each command gives what it prints, all at once: after an error nothing has been printed.
#pragma once

#include "requests.hpp"

#include <string>

namespace tool {

[[nodiscard]] std::string run_plan(const plan_request& request);
[[nodiscard]] std::string run_compare(const compare_request& request);
[[nodiscard]] std::string run_search(const search_request& request);
[[nodiscard]] std::string run_verify(const verify_request& request);
[[nodiscard]] std::string run_schemes();

}  // namespace tool
