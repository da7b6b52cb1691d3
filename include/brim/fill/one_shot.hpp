// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/fill/filler.hpp>
#include <brim/fill/group_cycle.hpp>
#include <brim/fill/options.hpp>
#include <brim/fill/prepare.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace brim::detail {

/// All units of a group at once, again at the first step after everything is done, but not before `least_steps`.
template <fill_policy Policy>
group_cycle one_shot_group(const prepared_fill& prepared, const fill_group& group, const Policy& policy,
                           const fill_options& options, std::int32_t least_steps) {
  constexpr std::int32_t most_steps = 4096;
  filler<Policy> run(prepared.work, prepared.bubbles, group, policy, options.margin_permille);
  std::vector<std::int32_t> all(group.units.size());
  for (std::size_t u = 0; u < all.size(); ++u) all[u] = static_cast<std::int32_t>(u);
  const auto once = [&] {
    const std::int32_t first = run.step();
    run.run_step(all);
    while ((!run.idle() || run.step() - first < least_steps) && run.step() - first < most_steps) run.run_step({});
    return run.step() - first;
  };
  once();
  const std::int32_t steps = once();
  if (!run.idle())
    raise(error_code::no_fill, text("fill: a refresh of everything takes more than ", most_steps, " steps"));
  return describe_cycle(prepared, group, std::move(run.placed()), {run.step() - steps, steps});
}

/// Group by group; where no short table holds whole cycles of all groups, the faster ones wait for the slowest.
template <fill_policy Policy>
std::vector<group_cycle> one_shot_cycle(const prepared_fill& prepared, const Policy& policy,
                                        const fill_options& options, std::int32_t devices) {
  constexpr std::int32_t longest_common = 64;
  std::vector<group_cycle> out;
  std::int32_t longest = 1;
  for (const fill_group& group : prepared.groups) {
    out.push_back(one_shot_group(prepared, group, policy, options, 1));
    longest = std::max(longest, out.back().window.steps);
  }
  const bool wait = common_length(out, longest_common) == 0;
  for (std::size_t g = 0; g < out.size(); ++g) {
    const fill_group& group = prepared.groups[g];
    if (wait && longest % out[g].window.steps != 0) out[g] = one_shot_group(prepared, group, policy, options, longest);
    over_limit(options, group, out[g], devices).raise_if_any();
  }
  return out;
}

}  // namespace brim::detail
