// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job.hpp"

#include <string>

namespace tool {

/// What the pipeline wastes and needs, and what a fill makes of it.
[[nodiscard]] std::string summary(const job& work, const outcome& made);

/// A factor is a side of a layer that is refreshed.
struct factor_count {
  std::int64_t all = 0;
  double refreshed_a_step = 0;  ///< mean
};

[[nodiscard]] factor_count count_factors(const brim::filled& filled);

/// What keeps the utilization from rising: work or bubbles.
[[nodiscard]] std::string what_binds(const brim::fill_report& report);

}  // namespace tool
