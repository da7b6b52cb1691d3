// SPDX-License-Identifier: Apache-2.0
// The scheme "auto": the best order found within the memory.
#pragma once

#include "job.hpp"

#include <brim/search/lean.hpp>

namespace tool {

inline constexpr std::string_view searched_name = brim::searched_scheme;

/// Searches the order of one stage a device that is shortest, and of those the one that needs the least memory; on a terminal it shows how far it is. Errors: those of `brim::search`.
[[nodiscard]] brim::search_result search_order(const job& work, const search_wishes& wishes,
                                               const std::vector<brim::bytes>& limits);

}  // namespace tool
