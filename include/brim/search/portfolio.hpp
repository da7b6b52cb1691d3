// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_policy.hpp>
#include <brim/search/line_problem.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace brim::detail {

/// How many forwards a device may be ahead of its backward_inputs, as a rule for all devices of a line.
enum class ahead_rule : std::uint8_t {
  nothing,    ///< 0
  no_limit,   ///< as many as there are microbatches
  depth,      ///< the devices from here on: what 1F1B keeps
  twice,      ///< twice that, less one: what leaves no bubble where all actions take equally long
  by_memory,  ///< as many times `depth` as the memory of the first device allows, at most four times
  by_time,    ///< the forwards that fit between the first forward and its gradient
  by_time_less,
  by_time_more,
};

/// The same for the backward_weights that may be due before one of them goes first.
enum class hold_rule : std::uint8_t { no_limit, twice_device, device };

/// A policy for any line.
struct policy_recipe {
  std::int32_t weight_rule = policy_row::budget;
  ahead_rule cap = ahead_rule::twice;
  hold_rule hold = hold_rule::no_limit;
  std::int32_t forward_rule = 0;
  ahead_rule target = ahead_rule::twice;
  std::int32_t make_room = 0;
};

/// The policies that a search tries, in this order: a cover of the winners among 6048 combinations on the published grid of
/// zero-bubble schedules. The first one alone meets the lower bound on three quarters of it.
inline constexpr std::array policy_recipes{
    policy_recipe{},
    policy_recipe{.cap = ahead_rule::by_memory},
    policy_recipe{.weight_rule = policy_row::either,
                  .cap = ahead_rule::by_memory,
                  .forward_rule = 10,
                  .target = ahead_rule::nothing},
    policy_recipe{.weight_rule = policy_row::deadline,
                  .cap = ahead_rule::no_limit,
                  .forward_rule = 1,
                  .target = ahead_rule::nothing},
    policy_recipe{.weight_rule = 4, .cap = ahead_rule::by_memory, .target = ahead_rule::nothing, .make_room = 1},
    policy_recipe{.weight_rule = policy_row::either, .cap = ahead_rule::by_time_less, .target = ahead_rule::by_memory},
    policy_recipe{.hold = hold_rule::twice_device},
    policy_recipe{.cap = ahead_rule::by_time, .forward_rule = 10, .target = ahead_rule::by_memory},
    policy_recipe{.cap = ahead_rule::no_limit, .forward_rule = 5, .target = ahead_rule::nothing, .make_room = 1},
    policy_recipe{.cap = ahead_rule::depth, .forward_rule = 1, .target = ahead_rule::nothing},
    policy_recipe{.hold = hold_rule::device, .target = ahead_rule::depth},
    policy_recipe{.weight_rule = policy_row::deadline, .target = ahead_rule::twice},
    policy_recipe{.weight_rule = policy_row::either, .target = ahead_rule::twice},
    policy_recipe{.weight_rule = 8, .forward_rule = 5, .target = ahead_rule::nothing},
    policy_recipe{.weight_rule = 4, .hold = hold_rule::twice_device},
    policy_recipe{.weight_rule = 0, .cap = ahead_rule::no_limit, .target = ahead_rule::twice, .make_room = 1},
};

[[nodiscard]] inline std::int32_t ahead_of(const line_problem& problem, std::int32_t d, ahead_rule rule) {
  const std::int32_t depth = problem.count() - d;
  const line_device& here = problem.devices[static_cast<std::size_t>(d)];
  const line_device& first = problem.devices[0];
  const auto in_time = [&] {
    const ticks each = std::max<ticks>(1, here.forward);
    return (here.forward + problem.round_trip(static_cast<std::size_t>(d)) + each - 1) / each;
  };
  const auto bounded = [&](std::int64_t value) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, 1, problem.microbatches));
  };
  switch (rule) {
    case ahead_rule::nothing: return 0;
    case ahead_rule::no_limit: return problem.microbatches;
    case ahead_rule::depth: return depth;
    case ahead_rule::twice: return 2 * depth - 1;
    case ahead_rule::by_memory: {
      const std::int64_t count = problem.count();
      const std::int64_t fit = first.taken <= 0 ? 4 * count : std::min(4 * count, first.limit / first.taken);
      return bounded((depth * fit + count - 1) / count);
    }
    case ahead_rule::by_time: return bounded(in_time());
    case ahead_rule::by_time_less: return bounded(in_time() - 1);
    case ahead_rule::by_time_more: return bounded(in_time() + 1);
  }
  return problem.microbatches;
}

/// The recipe for a line, aimed at a length.
[[nodiscard]] inline line_policy make_policy(const line_problem& problem, const policy_recipe& recipe, ticks goal) {
  line_policy made{.goal = goal, .rows = {}};
  for (std::int32_t d = 0; d < problem.count(); ++d) {
    const std::int32_t cap = std::max(1, ahead_of(problem, d, recipe.cap));
    const std::int32_t hold =
        recipe.hold == hold_rule::no_limit ? problem.microbatches : d * (recipe.hold == hold_rule::device ? 1 : 2);
    made.rows.push_back({.cap_before = cap,
                         .cap_after = cap,
                         .target = ahead_of(problem, d, recipe.target),
                         .hold = hold,
                         .weight_rule = recipe.weight_rule,
                         .forward_rule = recipe.forward_rule,
                         .make_room = recipe.make_room});
  }
  return made;
}

}  // namespace brim::detail
