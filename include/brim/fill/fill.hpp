// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/build_filled.hpp>
#include <brim/fill/concepts.hpp>
#include <brim/fill/filled.hpp>
#include <brim/fill/options.hpp>
#include <brim/fill/policies.hpp>
#include <brim/fill/prepare.hpp>
#include <brim/fill/search_cycle.hpp>

#include <algorithm>
#include <utility>

namespace brim {
namespace detail {

/// The best staggered table. Where no table is good and cutting is allowed when needed, tables of ever shorter pieces are
/// looked for too, and `prepared` becomes what the best one was made from.
template <work_source Source, fill_policy Policy>
cycle_candidate staggered_cycle(prepared_fill& prepared, const timeline& pipeline, const Source& source,
                                const Policy& policy, const fill_options& options) {
  const std::int32_t devices = pipeline.program.shape.devices;
  cycle_search<Policy> search(prepared, policy, options, devices);
  std::vector<cycle_candidate> found;
  std::vector<prepared_fill> cuts;
  const auto keep = [&](cycle_candidate candidate, prepared_fill from) {
    if (!candidate.found()) return false;
    found.push_back(std::move(candidate));
    cuts.push_back(std::move(from));
    return found.back().good(options.tolerance);
  };
  bool good = keep(search.best(), prepared);
  fill_options shorter = options;
  shorter.panels = panel_rule::always;
  for (int tries = 0; tries < 3 && !good && options.panels == panel_rule::when_needed;
       ++tries, shorter.longest_panel /= 2) {
    prepared_fill cut = prepare_fill(pipeline, source, shorter);
    cycle_candidate candidate = cycle_search<Policy>(cut, policy, options, devices).best();
    good = keep(std::move(candidate), std::move(cut));
  }
  if (found.empty()) search.refuse();
  const std::size_t taken = best_of(found, options.tolerance);
  prepared = std::move(cuts[taken]);
  return std::move(found[taken]);
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
    detail::cycle_candidate best;
    if (policy.discipline == refresh_discipline::one_shot)
      best = detail::one_shot_cycle(prepared, policy, options, devices);
    else
      best = detail::staggered_cycle(prepared, pipeline, source, policy, options);
    filled out{.pipeline = pipeline,
               .replicas = prepared.work.replicas,
               .cycle_length = detail::common_length(best.groups),
               .step_length = prepared.bubbles.step_length,
               .work = {},
               .tail = {},
               .report = detail::make_report(pipeline, prepared, best.groups, Policy::name)};
    const detail::placement_writer writer(prepared.work, prepared.bubbles, devices);
    for (const detail::group_cycle& cycle : best.groups) detail::append_work(out, writer, cycle);
    std::sort(out.work.begin(), out.work.end(), detail::before_in_plan);
    out.tail = detail::place_tail(prepared, writer);
    return out;
  }
}

}  // namespace brim
