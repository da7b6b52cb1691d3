// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/core/ticks.hpp>
#include <brim/model/concepts.hpp>
#include <brim/model/costs.hpp>
#include <brim/model/placement.hpp>
#include <brim/model/shape.hpp>
#include <brim/schedule/metrics.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace brim {

/// More memory than any step can use: the limit of a device without a limit.
inline constexpr bytes unlimited_memory = bytes{1} << 62;

/// The most that the microbatches of a step may take together, so that sums fit.
inline constexpr bytes largest_sum_of_memory = bytes{1} << 60;

/// One device of a line: the same numbers for each microbatch.
struct line_device {
  ticks forward = 1;
  ticks backward_input = 1;
  ticks backward_weight = 1;
  ticks hop = 0;                   ///< to the next device and back from it, each way
  bytes taken = 0;                 ///< by a microbatch, from the start of its forward to the end of its backward_input
  bytes kept = 0;                  ///< by a microbatch, from there to the end of its backward_weight; at most `taken`
  bytes limit = unlimited_memory;  ///< for all microbatches together

  [[nodiscard]] constexpr ticks each() const { return forward + backward_input + backward_weight; }
  friend constexpr bool operator==(const line_device&, const line_device&) = default;
};

/// What the search works on: devices in a line, one stage each, backwards in halves, equal microbatches.
///
/// Microbatches are interchangeable, so every device takes them in the same order and a schedule is, for each device, a
/// sequence of kinds. A schedule fits if (forwards − backward_inputs) × taken + (backward_inputs − backward_weights) × kept
/// stays within the limit, where a forward counts from its start and a half until its end.
struct line_problem {
  std::int32_t microbatches = 1;
  std::vector<line_device> devices{};
  length_kind goal = length_kind::longest_span;  ///< what to make short; `period` is searched as `longest_span`
  bool exact_memory = true;                      ///< whether `taken` and `kept` say what the memory model says, or more

  [[nodiscard]] constexpr std::int32_t count() const { return static_cast<std::int32_t>(devices.size()); }
  [[nodiscard]] constexpr ticks work(std::size_t d) const { return microbatches * devices[d].each(); }
  /// Earliest start of device `d`: when the first microbatch arrives.
  [[nodiscard]] constexpr ticks head(std::size_t d) const {
    ticks sum = 0;
    for (std::size_t k = 0; k < d; ++k) sum += devices[k].forward + devices[k].hop;
    return sum;
  }
  /// Where the length of device `d` starts to count. Every device starts with its first forward, as early as it can.
  [[nodiscard]] constexpr ticks origin(std::size_t d) const { return goal == length_kind::makespan ? 0 : head(d); }
  /// From the end of a forward on `d` to the earliest start of its backward_input: down to the last device and back.
  [[nodiscard]] constexpr ticks round_trip(std::size_t d) const {
    ticks sum = 0;
    for (std::size_t k = d + 1; k < devices.size(); ++k)
      sum += devices[k].forward + devices[k].backward_input + 2 * devices[k - 1].hop;
    return sum;
  }
  /// How many microbatches fit before the first backward_input.
  [[nodiscard]] constexpr std::int64_t most_in_flight(std::size_t d) const {
    const line_device& here = devices[d];
    return here.taken <= 0 ? microbatches : std::min<std::int64_t>(microbatches, here.limit / here.taken);
  }
  /// The mean duration of an action, at least 1.
  [[nodiscard]] constexpr ticks mean_duration() const {
    ticks sum = 0;
    for (const line_device& d : devices) sum += d.each();
    return std::max<ticks>(1, sum / (std::int64_t{3} * count()));
  }
  friend constexpr bool operator==(const line_problem&, const line_problem&) = default;
};

namespace detail {

/// The longest duration in a line of this size: all sums that the search forms then fit 64 bits.
[[nodiscard]] constexpr ticks longest_line_duration(const pipeline_shape& shape) {
  const std::int64_t cells = std::int64_t{shape.devices} * shape.microbatches;
  const auto lanes = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint32_t>(shape.devices)));
  return longest_schedule / (80 * cells) / lanes;
}

/// What a microbatch changes on a device: at the start and at the end of its forward and of the two halves of its backward.
struct memory_steps {
  std::array<bytes, 3> start{};
  std::array<bytes, 3> end{};
};

/// The two levels of a device. A half that takes memory has it reserved from the forward on.
/// Errors: `bad_profile` where a microbatch does not give back exactly what it took.
inline void set_memory(line_device& here, bool& exact, const memory_steps& steps, device_index device) {
  bytes used = 0;
  std::array<bytes, 3> after{};
  for (std::size_t k = 0; k < 3; ++k) after[k] = used = bounded_sum(used, bounded_sum(steps.start[k], steps.end[k]));
  if (used != 0)
    raise(error_code::bad_profile,
          text("memory of device ", device.value,
               ": the halves of a backward must give back what the forward took, but ", used, " bytes remain"),
          {.device = device.value, .stage = device.value});
  here.kept = std::max<bytes>({0, after[1], bounded_sum(after[1], steps.start[2])});
  here.taken = std::max({here.kept, steps.start[0], after[0], bounded_sum(after[0], steps.start[1])});
  exact = exact && here.taken == steps.start[0] && here.taken == after[0] && here.kept == after[1] &&
          steps.start[1] <= 0 && steps.start[2] <= 0;
}

[[noreturn]] inline void raise_no_room(device_index device, bytes needed, bytes limit) {
  raise(error_code::over_memory,
        text("no schedule: stage ", device.value, " needs ", needed, " bytes for one microbatch, limit ", limit,
             " bytes"),
        {.device = device.value, .stage = device.value});
}

}  // namespace detail

/// The line of a shape with one stage a device. `limits` are bytes of a whole device, resident ones included; 0, or no
/// entry: no limit. Complexity: linear in devices × microbatches.
/// Errors: `bad_shape`; `refused_shape` for chunks or pairs; `bad_profile` where microbatches differ, a duration is negative
/// or too long to add up, or memory is not given back; `over_memory` where one microbatch does not fit.
template <cost_model Costs, memory_model Memory>
[[nodiscard]] line_problem make_line_problem(const pipeline_shape& shape, const Costs& model, const Memory& memory,
                                             const std::vector<bytes>& limits = {},
                                             length_kind goal = length_kind::makespan) {
  check_shape(shape);
  if (shape.chunks != 1 || shape.pairs != 1)
    raise(error_code::refused_shape,
          detail::text("search: it places one stage a device, so chunks and pairs must be 1 (", to_string(shape), ")"));
  constexpr std::array kinds{action_kind::forward, action_kind::backward_input, action_kind::backward_weight};
  line_problem made{.microbatches = shape.microbatches, .devices = {}, .goal = goal};
  with_prepared(model, one_stage_a_device(shape), [&](const auto& costs) {
    const auto checked = [&](ticks time, device_index d) {
      if (time < 0 || time > detail::longest_line_duration(shape))
        raise(error_code::bad_profile,
              detail::text("stage ", d.value, ": a duration of ", time,
                           " ticks is negative, or too long to search; use coarser ticks"),
              {.device = d.value, .stage = d.value});
      return time;
    };
    for (const device_index d : devices(shape)) {
      line_device here{};
      detail::memory_steps steps{};
      std::array<ticks, 3> times{};
      for (const microbatch_index m : microbatches(shape))
        for (std::size_t k = 0; k < 3; ++k) {
          const action what{kinds[k], side::none, route_index(0), stage_of(d), m, layer_index(-1)};
          const ticks time = costs.duration(what, d);
          const bytes start = memory.at_start(what, d);
          const bytes end = memory.at_end(what, d);
          if (m.value > 0 && (time != times[k] || start != steps.start[k] || end != steps.end[k]))
            raise(error_code::bad_profile,
                  detail::text("search: microbatches 0 and ", m.value, " differ in ", name_of(kinds[k]), " of stage ",
                               d.value),
                  {.device = d.value, .stage = d.value, .microbatch = m.value});
          times[k] = checked(time, d);
          steps.start[k] = start;
          steps.end[k] = end;
        }
      here.forward = times[0];
      here.backward_input = times[1];
      here.backward_weight = times[2];
      if (d.value + 1 < shape.devices) here.hop = checked(costs.transfer(stage_of(d)), d);
      detail::set_memory(here, made.exact_memory, steps, d);
      if (here.taken > largest_sum_of_memory / shape.microbatches)
        raise(error_code::bad_profile,
              detail::text("stage ", d.value, ": ", here.taken, " bytes a microbatch are too much to add up"),
              {.device = d.value, .stage = d.value});
      const bytes limit = d.at() < limits.size() ? limits[d.at()] : 0;
      if (limit != 0) {
        const bytes resident = memory.resident(route_index(0), stage_of(d));
        here.limit = detail::bounded_sum(limit, -resident);
        if (here.taken > here.limit) detail::raise_no_room(d, detail::bounded_sum(here.taken, resident), limit);
      }
      made.devices.push_back(here);
    }
    return 0;
  });
  return made;
}

}  // namespace brim
