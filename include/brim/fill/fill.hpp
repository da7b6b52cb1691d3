// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/fill/build_filled.hpp>
#include <brim/fill/concepts.hpp>
#include <brim/fill/filled.hpp>
#include <brim/fill/one_shot.hpp>
#include <brim/fill/options.hpp>
#include <brim/fill/policies.hpp>
#include <brim/fill/prepare.hpp>
#include <brim/fill/search_cycle.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace brim {
namespace detail {

/// Operations that the search for one way to cut may cost, in pieces and steps.
inline constexpr std::size_t most_operations = 4'000'000;

/// The best staggered table. Where no table is good and cutting is allowed when needed, tables of ever shorter pieces are
/// looked for too, and `prepared` becomes what the best one was made from. Shorter pieces have to be worth it: each costs
/// the trainer a launch.
template <work_source Source, fill_policy Policy>
std::vector<group_cycle> staggered_cycle(prepared_fill& prepared, const timeline& pipeline, const Source& source,
                                         const Policy& policy, const fill_options& options) {
  const std::int32_t devices = pipeline.program.shape.devices;
  kept_refusal refused;
  const auto search = [&](const prepared_fill& from) {
    cycle_search<Policy> searched(from, policy, options, devices, most_operations);
    cycle_candidate found = searched.best();
    refused = nearer(refused, searched.refused());
    return found;
  };
  cycle_candidate best = search(prepared);
  fill_options cut_all = options;
  cut_all.panels = panel_rule::always;
  const auto done = [&] { return best.found() && best.rating.good(options.tolerance); };
  const bool may_cut = options.panels == panel_rule::when_needed;
  for (ticks shorter = 1; shorter <= 4 && may_cut && !done(); shorter *= 2) {
    prepared_fill cut = prepare_fill(pipeline, source, cut_all, shorter);
    cycle_candidate candidate = search(cut);
    if (!candidate.found() || (best.found() && !candidate.rating.better(best.rating, options.tolerance))) continue;
    best = std::move(candidate);
    prepared = std::move(cut);
  }
  if (!best.found()) {
    refused.raise_if_any();
    const std::string limit =
        options.longest_cycle > 0 ? text(" of at most ", options.longest_cycle, " steps") : std::string();
    raise(error_code::no_fill, text("fill: no repeating table", limit, " keeps up with the work; ",
                                    limit.empty() ? "" : "raise longest_cycle, or ", "allow panels"));
  }
  return std::move(best.groups);
}

}  // namespace detail

/// Places the work of `source` in the bubbles of `pipeline`, whose actions keep their times, and gives the table of steps
/// that repeats.
///
/// With a staggered refresh the table's length is searched: tables in which every layer is refreshed at steps of its own,
/// as often as the bubbles allow, are run until a round of the table ends in the state in which it began. The shortest
/// one within `options.tolerance` of the bound is taken.
/// Complexity: O(pieces of a cycle × log) for each table that is tried.
///
/// Errors: `item_too_long` (which piece, how long, the longest bubble; before anything is placed), `over_memory` (`kept_limits`),
/// `no_fill` (wrong options, or no table keeps up), those of the source.
/// Example: `examples/first_plan/`.
template <class Source, class Policy = fills::oldest_longest>
[[nodiscard]] filled fill(const timeline& pipeline, const Source& source, const Policy& policy = {},
                          const fill_options& options = {}) {
  if constexpr (check_work_source<Source>() && check_fill_policy<Policy>()) {
    const std::int32_t devices = pipeline.program.shape.devices;
    detail::prepared_fill prepared = detail::prepare_fill(pipeline, source, options);
    const std::vector<detail::group_cycle> groups =
        policy.discipline == refresh_discipline::one_shot
            ? detail::one_shot_cycle(prepared, policy, options, devices)
            : detail::staggered_cycle(prepared, pipeline, source, policy, options);
    filled out{.pipeline = pipeline,
               .replicas = prepared.work.replicas,
               .cycle_length = detail::common_length(groups),
               .step_length = prepared.bubbles.step_length,
               .work = {},
               .tail = {},
               .report = detail::make_report(pipeline, prepared, groups, Policy::name)};
    const detail::placement_writer writer(prepared.work, prepared.bubbles, devices);
    for (const detail::group_cycle& cycle : groups) detail::append_work(out, writer, cycle);
    std::sort(out.work.begin(), out.work.end(), detail::before_in_plan);
    out.tail = detail::place_tail(prepared, writer);
    return out;
  }
}

}  // namespace brim
