// SPDX-License-Identifier: Apache-2.0
// Reading and writing files; the only part that sees JSON and Boost.Graph.
#pragma once

#include "job.hpp"

#include <brim/plan/plan.hpp>

#include <string>
#include <vector>

namespace tool {

[[nodiscard]] brim::profile read_profile(const std::string& path);
[[nodiscard]] brim::plan read_plan(const std::string& path);

/// Checks, before any work is done, that every file can be written. Errors: `io_failure`; `usage_error` where two of them,
/// or one and the profile, are the same file.
void check_outputs(const plan_request& request);

/// Writes the files that the request asks for, each as a whole, and says where they are, a line each. Errors: `io_failure`.
[[nodiscard]] std::string write_outputs(const plan_request& request, const outcome& made, const brim::profile& costs,
                                        const brim::plan& plan);

/// The timeline in letters.
[[nodiscard]] std::string grid(const plan_request& request, const outcome& made);

}  // namespace tool
