// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_problem.hpp>
#include <brim/search/random.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace samples {

/// Even devices; `limit` in units of `taken`, 0 for none.
inline brim::line_problem even_line(std::int32_t devices, std::int32_t microbatches, brim::line_device each,
                                    std::int64_t limit, brim::length_kind goal = brim::length_kind::longest_span) {
  brim::line_problem made{.microbatches = microbatches, .devices = {}, .goal = goal};
  if (limit > 0) each.limit = limit * each.taken;
  made.devices.assign(static_cast<std::size_t>(devices), each);
  made.devices.back().hop = 0;
  return made;
}

/// Uneven devices, up to 3 with up to 4 microbatches: small enough to look at all orders.
inline brim::line_problem random_line(brim::detail::random_numbers& random, std::int32_t least) {
  const std::int32_t devices = 1 + random.below(3);
  brim::line_problem made{.microbatches = 1 + random.below(devices == 3 ? 3 : 4), .devices = {}};
  made.goal = random.chance(50) ? brim::length_kind::makespan : brim::length_kind::longest_span;
  for (std::int32_t d = 0; d < devices; ++d) {
    brim::line_device here{.forward = least + random.below(6),
                           .backward_input = least + random.below(6),
                           .backward_weight = least + random.below(6)};
    if (d + 1 < devices) here.hop = random.below(3);
    here.taken = 1 + random.below(4);
    here.kept = random.below(static_cast<std::int32_t>(here.taken) + 1);
    if (random.chance(60)) here.limit = here.taken + random.below(3 * static_cast<std::int32_t>(here.taken));
    made.devices.push_back(here);
  }
  return made;
}

/// For the message of a failed check.
inline std::string to_text(const brim::line_problem& problem) {
  std::string out = brim::detail::text(name_of(problem.goal), ", ", problem.microbatches, " microbatches");
  for (const brim::line_device& d : problem.devices)
    out += brim::detail::text("; ", d.forward, " ", d.backward_input, " ", d.backward_weight, " hop ", d.hop,
                              " memory ", d.taken, " ", d.kept, " of ", d.limit);
  return out;
}

}  // namespace samples
