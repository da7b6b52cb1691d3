// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_problem.hpp>
#include <brim/search/line_rules.hpp>
#include <brim/search/step_bound.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace brim {

/// A length that no schedule of a line can undercut, and why.
struct line_bound {
  enum class reason : std::uint8_t {
    load,        ///< a device's own work
    ends,        ///< and the gaps before its first backward_input and after its last forward
    path,        ///< one microbatch down and back, the others at the pace of the slowest device below
    tail,        ///< down to a device, its work until its last backward_input, and back
    steps,       ///< `ends` or `tail` where whole actions cannot fill the gaps of all devices
    memory,      ///< rounds of as many microbatches as fit, each round as long as one microbatch is held
    exhaustive,  ///< all schedules were looked at
  };

  ticks length = 0;
  reason rule = reason::path;
  device_index device{0};      ///< whose length is bounded
  device_index through{0};     ///< for `tail`: the device below that does the work
  std::int64_t in_flight = 0;  ///< microbatches that fit on `through` at a time

  friend constexpr bool operator==(const line_bound&, const line_bound&) = default;
};

[[nodiscard]] constexpr std::string_view name_of(line_bound::reason reason) {
  switch (reason) {
    case line_bound::reason::load: return "load";
    case line_bound::reason::ends: return "ends";
    case line_bound::reason::path: return "path";
    case line_bound::reason::tail: return "tail";
    case line_bound::reason::steps: return "steps";
    case line_bound::reason::memory: return "memory";
    case line_bound::reason::exhaustive: return "exhaustive";
  }
  return "unknown";
}

/// Lower bound on the length that `problem.goal` names, for every order and every timing of it.
///
/// The largest, over devices, of five closed forms, raised to what the `steps` of all devices together allow; for the makespan
/// each counts from the device's head. Where the memory
/// levels of the problem are more than the model's (`exact_memory` is false), memory is left out.
/// Complexity: devices² + devices × microbatches; times the logarithm of the length where `steps` binds.
[[nodiscard]] inline line_bound lower_bound_of(const line_problem& problem) {
  line_problem known = problem;
  if (!known.exact_memory)
    for (line_device& d : known.devices) d.limit = unlimited_memory;
  const detail::line_bounds bounds(known);
  line_bound best{.length = -1};
  for (std::size_t d = 0; d < known.devices.size(); ++d) {
    const ticks head = known.head(d) - known.origin(d);
    const auto consider = [&](ticks length, line_bound::reason rule, std::size_t through) {
      if (head + length > best.length)
        best = {head + length, rule, device_index(static_cast<std::int64_t>(d)),
                device_index(static_cast<std::int64_t>(through)), known.most_in_flight(through)};
    };
    consider(known.work(d), line_bound::reason::load, d);
    consider(bounds.ends(d), line_bound::reason::ends, d);
    consider(bounds.path(d), line_bound::reason::path, d);
    std::size_t through = d;
    const ticks tail = bounds.tail(d, through);
    consider(tail, line_bound::reason::tail, through);
    consider(bounds.memory(d), line_bound::reason::memory, d);
  }
  const ticks steps = detail::step_bound(known, bounds).shortest(best.length);
  if (steps > best.length) {
    best.length = steps;
    best.rule = line_bound::reason::steps;
  }
  return best;
}

}  // namespace brim
