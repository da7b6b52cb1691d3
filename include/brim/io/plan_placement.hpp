// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/plan/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// Fills in what the actions of a program do not tell: a route without microbatches. The usual placements, where one of
/// them agrees with everything that is known; otherwise −1 stays.
inline void complete_placement(const pipeline_shape& shape, std::int32_t stages, std::int32_t routes,
                               std::vector<device_index>& holders) {
  const device_index unknown(-1);
  if (std::find(holders.begin(), holders.end(), unknown) == holders.end()) return;
  const auto try_placement = [&](const placement& where) {
    if (where.stages != stages || where.routes != routes) return;
    for (std::size_t i = 0; i < holders.size(); ++i)
      if (holders[i] != unknown && holders[i] != where.holders[i]) return;
    holders = where.holders;
  };
  if (routes == 1 && stages == std::int64_t{shape.devices} * shape.chunks) try_placement(looped(shape));
  if (routes == 2 * std::int64_t{shape.pairs} && stages == shape.devices) try_placement(mirrored_pairs(shape));
}

/// Which device holds which stage of which route, as the plan's own actions tell; −1 where nothing does.
inline std::vector<device_index> placement_of_plan(const plan& p) {
  std::vector<device_index> holders(static_cast<std::size_t>(p.where.routes) * static_cast<std::size_t>(p.where.stages),
                                    device_index(-1));
  const auto learn = [&](const action& what, device_index device) {
    const std::size_t at = what.route.at() * static_cast<std::size_t>(p.where.stages) + what.stage.at();
    if (is_pipeline_action(what.kind) && what.stage.value >= 0 && at < holders.size() && holders[at].value < 0)
      holders[at] = device;
  };
  for (const stream& s : p.streams)
    for (const instruction& i : p.instructions_of(s)) learn(i.what, s.device);
  for (const timed_action& a : p.timeline) learn(a.what, a.device);
  complete_placement(p.shape, p.where.stages, p.where.routes, holders);
  return holders;
}

}  // namespace brim::detail
