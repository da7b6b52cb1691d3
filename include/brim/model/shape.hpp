// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/index.hpp>
#include <brim/core/text.hpp>

#include <cstdint>

namespace brim {

/// The size of one pipeline step. A structural type: it can be a template argument.
struct pipeline_shape {
  std::int32_t devices = 1;       ///< pipeline-parallel workers
  std::int32_t microbatches = 1;  ///< microbatches of one step, over all routes
  std::int32_t chunks = 1;        ///< stages a device holds on one route; 1 for the schemes without chunks
  std::int32_t pairs = 1;         ///< pairs of opposite routes, for the schemes with two-way routes

  friend constexpr bool operator==(const pipeline_shape&, const pipeline_shape&) = default;
};

/// The greatest number of pipeline actions (forwards + backwards) that brim plans in one step: 2^26, or 2 GiB of timeline.
inline constexpr std::int64_t largest_action_count = std::int64_t{1} << 26;

/// Every microbatch of the step, in order.
[[nodiscard]] constexpr index_range<microbatch_index> microbatches(const pipeline_shape& shape) {
  return index_range<microbatch_index>(shape.microbatches);
}

/// Every device, in order.
[[nodiscard]] constexpr index_range<device_index> devices(const pipeline_shape& shape) {
  return index_range<device_index>(shape.devices);
}

/// The stage of a device where every device holds one stage.
[[nodiscard]] constexpr stage_index stage_of(device_index device) { return stage_index(device.value); }

/// `"devices=4 microbatches=8 chunks=1 pairs=1"`.
[[nodiscard]] inline std::string to_string(const pipeline_shape& shape) {
  return detail::text("devices=", shape.devices, " microbatches=", shape.microbatches, " chunks=", shape.chunks,
                      " pairs=", shape.pairs);
}

namespace detail {

[[noreturn]] inline void raise_bad_shape(const pipeline_shape& shape, const char* rule) {
  raise(error_code::bad_shape, text(rule, " (", to_string(shape), ")"));
}

}  // namespace detail

/// Checks what every scheme needs: each number is at least 1, the step has at most `largest_action_count` actions, and all
/// routes together at most as many stages.
/// Errors: `bad_shape`.
constexpr void check_shape(const pipeline_shape& shape) {
  if (shape.devices < 1) detail::raise_bad_shape(shape, "a pipeline needs at least one device");
  if (shape.microbatches < 1) detail::raise_bad_shape(shape, "a step needs at least one microbatch");
  if (shape.chunks < 1) detail::raise_bad_shape(shape, "a device needs at least one chunk");
  if (shape.pairs < 1) detail::raise_bad_shape(shape, "a two-way scheme needs at least one pair of routes");
  constexpr std::int64_t limit = largest_action_count / 2;
  const std::int64_t stages = std::int64_t{shape.devices} * shape.chunks;
  if (stages > limit || shape.microbatches > limit / stages)
    detail::raise_bad_shape(
        shape, "a step may have at most 2^26 forwards and backwards: use fewer devices, chunks or microbatches");
  if (shape.pairs > limit / shape.devices)
    detail::raise_bad_shape(shape, "a placement may have at most 2^26 stage copies: use fewer devices or pairs");
  if (shape.pairs > shape.devices) detail::raise_bad_shape(shape, "there cannot be more pairs of routes than devices");
}

}  // namespace brim
