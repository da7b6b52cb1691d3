// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job.hpp"

#include <string>

namespace tool {

/// What the pipeline wastes and needs, and what a fill makes of it.
[[nodiscard]] std::string summary(const job& work, const outcome& made);

/// What keeps the utilization from rising: work or bubbles.
[[nodiscard]] std::string what_binds(const brim::fill_report& report);

}  // namespace tool
