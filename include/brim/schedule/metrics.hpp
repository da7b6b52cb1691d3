// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/schedule/timeline.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace brim {

/// The length that a ratio refers to; papers differ, so every ratio of brim names its own.
enum class length_kind : std::uint8_t {
  makespan,      ///< first start to last end over all devices
  longest_span,  ///< greatest first start to last end of one device
  period,        ///< distance at which the same timeline repeats without a barrier
};

[[nodiscard]] constexpr std::string_view name_of(length_kind kind) {
  return kind == length_kind::makespan ? "makespan" : kind == length_kind::longest_span ? "longest_span" : "period";
}

/// First start to last end of one device.
[[nodiscard]] constexpr ticks span_of(const timeline_view& t, device_index d) {
  const auto times = t.times_of(d);
  return times.empty() ? 0 : times.back().end - times.front().start;
}

[[nodiscard]] constexpr ticks longest_span(const timeline_view& t) {
  ticks longest = 0;
  for (const device_index d : devices(t.shape)) longest = std::max(longest, span_of(t, d));
  return longest;
}

/// First start to last end over all devices: the step time with a barrier after every step.
[[nodiscard]] constexpr ticks makespan(const timeline_view& t) {
  if (t.times.empty()) return 0;
  ticks first = t.times.front().start;
  ticks last = 0;
  for (const device_index d : devices(t.shape)) {
    const auto times = t.times_of(d);
    if (times.empty()) continue;
    first = std::min(first, times.front().start);
    last = std::max(last, times.back().end);
  }
  return last - first;
}

/// Time that a device spends on the pipeline's actions.
[[nodiscard]] constexpr ticks busy_of(const timeline_view& t, device_index d) {
  ticks sum = 0;
  for (const interval& i : t.times_of(d)) sum += i.length();
  return sum;
}

[[nodiscard]] constexpr ticks busy(const timeline_view& t) {
  ticks sum = 0;
  for (const interval& i : t.times) sum += i.length();
  return sum;
}

/// The smallest distance at which this timeline can repeat, step after step, without a barrier: a device starts its
/// next step when its own is over, and a stage that several routes share not before all of its holders have finished
/// with it, since they update the same weights. With a barrier the distance is `makespan`.
/// Complexity: linear.
[[nodiscard]] constexpr ticks period(const timeline_view& t) {
  ticks shortest = longest_span(t);
  if (t.routes == 1) return shortest;
  std::vector<ticks> first(static_cast<std::size_t>(t.stages), -1);
  std::vector<ticks> last(static_cast<std::size_t>(t.stages), 0);
  for (std::size_t i = 0; i < t.actions.size(); ++i) {
    const std::size_t s = t.actions[i].stage.at();
    if (first[s] < 0 || t.times[i].start < first[s]) first[s] = t.times[i].start;
    last[s] = std::max(last[s], t.times[i].end);
  }
  for (std::size_t s = 0; s < first.size(); ++s)
    if (first[s] >= 0) shortest = std::max(shortest, last[s] - first[s]);
  return shortest;
}

[[nodiscard]] constexpr ticks length_of(const timeline_view& t, length_kind kind) {
  switch (kind) {
    case length_kind::makespan: return makespan(t);
    case length_kind::longest_span: return longest_span(t);
    case length_kind::period: return period(t);
  }
  return 0;
}

/// Share of the devices' time in which the pipeline does nothing: 1 − busy / (devices × length). 0 for an empty timeline.
[[nodiscard]] constexpr double bubble_ratio(const timeline_view& t, length_kind kind = length_kind::makespan) {
  const ticks length = length_of(t, kind);
  if (length == 0) return 0;
  return 1.0 - static_cast<double>(busy(t)) / (static_cast<double>(t.shape.devices) * static_cast<double>(length));
}

}  // namespace brim
