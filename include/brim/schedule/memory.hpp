// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/model/concepts.hpp>
#include <brim/schedule/timeline.hpp>

#include <algorithm>
#include <vector>

namespace brim {

/// Bytes that a device holds all the time: what its stages of all routes keep resident.
template <memory_model Memory>
[[nodiscard]] constexpr bytes resident_memory(const timeline_view& t, device_index d, const Memory& memory) {
  bytes held = 0;
  for (std::int32_t r = 0; r < t.routes; ++r)
    for (std::int32_t s = 0; s < t.stages; ++s)
      if (t.device_of(route_index(r), stage_index(s)) == d) held += memory.resident(route_index(r), stage_index(s));
  return held;
}

namespace detail {

/// The greatest number of bytes in use while a device runs its row, starting from `used`.
template <memory_model Memory>
[[nodiscard]] constexpr bytes peak_of_row(const timeline_view& t, device_index d, const Memory& memory, bytes used) {
  bytes peak = used;
  for (const action& a : t.row(d)) {
    used += memory.at_start(a, d);
    peak = std::max(peak, used);
    used += memory.at_end(a, d);
  }
  return peak;
}

}  // namespace detail

/// The greatest number of bytes in use on a device during the step, resident ones included. Complexity: linear.
template <class Memory>
[[nodiscard]] constexpr bytes peak_memory(const timeline_view& t, device_index d, const Memory& memory) {
  if constexpr (check_memory_model<Memory>()) return detail::peak_of_row(t, d, memory, resident_memory(t, d, memory));
}

/// `peak_memory` of every device. Complexity: linear.
template <class Memory>
[[nodiscard]] constexpr std::vector<bytes> peak_memory(const timeline_view& t, const Memory& memory) {
  std::vector<bytes> peaks(static_cast<std::size_t>(t.shape.devices), 0);
  if constexpr (check_memory_model<Memory>()) {
    for (std::int32_t r = 0; r < t.routes; ++r)
      for (std::int32_t s = 0; s < t.stages; ++s)
        peaks[t.device_of(route_index(r), stage_index(s)).at()] += memory.resident(route_index(r), stage_index(s));
    for (const device_index d : devices(t.shape)) peaks[d.at()] = detail::peak_of_row(t, d, memory, peaks[d.at()]);
  }
  return peaks;
}

/// Stops with `over_memory` where a device needs more than its limit; a limit of 0 means none.
inline void check_memory(const timeline_view& t, const std::vector<bytes>& peaks, const std::vector<bytes>& limits) {
  for (std::size_t d = 0; d < peaks.size() && d < limits.size(); ++d)
    if (limits[d] > 0 && peaks[d] > limits[d])
      raise(error_code::over_memory,
            detail::text(t.scheme, ": device ", d, " needs ", peaks[d], " bytes at its peak, its limit is ", limits[d],
                         "; use a scheme that keeps fewer microbatches, or smaller microbatches"),
            {.device = static_cast<std::int32_t>(d)});
}

}  // namespace brim
