// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/model/concepts.hpp>
#include <brim/schedule/timeline.hpp>

#include <algorithm>
#include <vector>

namespace brim {

/// Bytes that every device holds all the time: what its stages of all routes keep resident. Complexity: linear.
template <memory_model Memory>
[[nodiscard]] constexpr std::vector<bytes> resident_memory(const timeline_view& t, const Memory& memory) {
  std::vector<bytes> held(static_cast<std::size_t>(t.shape.devices), 0);
  for (std::int32_t r = 0; r < t.routes; ++r)
    for (std::int32_t s = 0; s < t.stages; ++s) {
      bytes& used = held[t.device_of(route_index(r), stage_index(s)).at()];
      used = detail::bounded_sum(used, memory.resident(route_index(r), stage_index(s)));
    }
  return held;
}

/// The greatest number of bytes in use on every device during the step, resident ones included; at most 2^62 are told apart.
/// Complexity: linear.
template <class Memory>
[[nodiscard]] constexpr std::vector<bytes> peak_memory(const timeline_view& t, const Memory& memory) {
  if constexpr (check_memory_model<Memory>()) {
    std::vector<bytes> peaks = resident_memory(t, memory);
    for (const device_index d : devices(t.shape)) {
      bytes used = peaks[d.at()];
      for (const action& a : t.row(d)) {
        used = detail::bounded_sum(used, memory.at_start(a, d));
        peaks[d.at()] = std::max(peaks[d.at()], used);
        used = detail::bounded_sum(used, memory.at_end(a, d));
      }
    }
    return peaks;
  }
}

/// Stops with `over_memory` where a device needs more than its limit; a limit of 0 means none.
inline void check_memory(const timeline_view& t, const std::vector<bytes>& peaks, const std::vector<bytes>& limits) {
  for (std::size_t d = 0; d < peaks.size() && d < limits.size(); ++d)
    if (limits[d] > 0 && peaks[d] > limits[d])
      raise(error_code::over_memory,
            detail::text(t.scheme, ": device ", d, " needs ", peaks[d], " bytes at its peak, its limit is ", limits[d],
                         " bytes; use a scheme that keeps fewer microbatches, or smaller microbatches"),
            {.device = static_cast<std::int32_t>(d)});
}

}  // namespace brim
