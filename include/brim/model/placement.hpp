// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/config.hpp>
#include <brim/core/index.hpp>
#include <brim/model/shape.hpp>

#include <cstdint>
#include <vector>

namespace brim {

/// Which device holds which stage of which route. A microbatch `k` takes route `k mod routes`, so that the routes'
/// shares differ by at most one.
struct placement {
  std::int32_t devices = 1;
  std::int32_t routes = 1;
  std::int32_t stages = 1;
  std::vector<device_index> holders{};  ///< `routes * stages` entries, route by route

  [[nodiscard]] constexpr device_index device_of(route_index route, stage_index stage) const {
    return holders[route.at() * static_cast<std::size_t>(stages) + stage.at()];
  }
  [[nodiscard]] constexpr route_index route_of(microbatch_index microbatch) const {
    return route_index(microbatch.value % routes);
  }
  friend constexpr bool operator==(const placement&, const placement&) = default;
};

/// Stage `s` on device `s`.
[[nodiscard]] constexpr placement one_stage_a_device(const pipeline_shape& shape) {
  placement where{.devices = shape.devices, .routes = 1, .stages = shape.devices, .holders = {}};
  for (const device_index device : devices(shape)) where.holders.push_back(device);
  return where;
}

/// Stage `s` on device `s mod devices`: the ring of interleaved and breadth-first schedules.
[[nodiscard]] constexpr placement looped(const pipeline_shape& shape) {
  placement where{.devices = shape.devices, .routes = 1, .stages = shape.devices * shape.chunks, .holders = {}};
  for (std::int32_t s = 0; s < where.stages; ++s) where.holders.emplace_back(s % shape.devices);
  return where;
}

/// Back and forth: a chunk of stages down the devices, the next one up again, and so on; two chunks make a V.
[[nodiscard]] constexpr placement zig_zag(const pipeline_shape& shape) {
  placement where = looped(shape);
  for (std::int32_t s = 0; s < where.stages; ++s) {
    device_index& holder = where.holders[stage_index(s).at()];
    if (s / shape.devices % 2 == 1) holder = device_index(shape.devices - 1 - holder.value);
  }
  return where;
}

/// The route of `where` and, as second route, its mirror image.
[[nodiscard]] constexpr placement two_way(placement where) {
  where.routes = 2;
  for (std::int32_t s = 0; s < where.stages; ++s)
    where.holders.emplace_back(where.devices - 1 - where.holders[stage_index(s).at()].value);
  return where;
}

/// `2 * pairs` routes over the same stages. Down route `q` starts `q * devices / pairs` devices further on and goes
/// up the ring; up route `q` is its mirror image. Even routes go down, odd ones up.
[[nodiscard]] constexpr placement mirrored_pairs(const pipeline_shape& shape) {
  const std::int32_t p = shape.devices;
  placement where{.devices = p, .routes = 2 * shape.pairs, .stages = p, .holders = {}};
  for (std::int32_t r = 0; r < where.routes; ++r) {
    const std::int32_t offset = (r / 2) * (p / shape.pairs);
    for (std::int32_t s = 0; s < p; ++s) {
      const std::int32_t down = (s + offset) % p;
      where.holders.emplace_back(r % 2 == 0 ? down : p - 1 - down);
    }
  }
  return where;
}

}  // namespace brim
