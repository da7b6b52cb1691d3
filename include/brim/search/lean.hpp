// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/search.hpp>

#include <algorithm>
#include <vector>

namespace brim {

/// What every device needs in order to keep `count` microbatches at a time, resident bytes included: limits for a search.
template <memory_model Memory>
[[nodiscard]] std::vector<bytes> memory_for(std::int64_t count, const pipeline_shape& shape, const Memory& memory) {
  std::vector<bytes> needed;
  for (const device_index d : devices(shape)) {
    const action forward{.stage = stage_of(d), .microbatch = microbatch_index(0)};
    needed.push_back(memory.resident(route_index(0), stage_of(d)) + count * memory.at_start(forward, d));
  }
  return needed;
}

/// As `search`, but of the orders of that length it takes one for which the fewest microbatches in flight suffice: more memory
/// than that would not make the step shorter. The bound and the gap are those of the limits that were given.
///
/// Complexity: that of `search`, times ln of the microbatches. Errors: those of `search`.
template <class Costs, class Memory>
[[nodiscard]] search_result search_lean(const pipeline_shape& shape, const Costs& costs, const Memory& memory,
                                        const search_options& options = {}) {
  search_result best = search(shape, costs, memory, options);
  search_options tighter = options;
  std::int64_t enough = shape.microbatches;
  for (std::int64_t too_few = 0; too_few + 1 < enough;) {
    const std::int64_t count = (too_few + enough) / 2;
    tighter.memory_limits = memory_for(count, shape, memory);
    for (std::size_t d = 0; d < options.memory_limits.size() && d < tighter.memory_limits.size(); ++d)
      if (const bytes limit = options.memory_limits[d]; limit > 0)
        tighter.memory_limits[d] = std::min(tighter.memory_limits[d], limit);
    search_result found = search(shape, costs, memory, tighter);
    best.operations += found.operations;
    if (found.length > best.length) {
      too_few = count;
      continue;
    }
    enough = count;
    found.bound = best.bound;
    found.gap = best.gap;
    found.operations = best.operations;
    best = std::move(found);
  }
  return best;
}

}  // namespace brim
