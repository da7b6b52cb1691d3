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

/// The best staggered table. Where panels are allowed but do not seem to be needed and no table is good without them, tables
/// with panels are looked for too, and `prepared` becomes what the better one was made from.
template <work_source Source, fill_policy Policy>
cycle_candidate staggered_cycle(prepared_fill& prepared, const timeline& pipeline, const Source& source, const Policy& policy, const fill_options& options) {
  const std::int32_t devices = pipeline.program.shape.devices;
  cycle_search<Policy> search(prepared, policy, options, devices);
  cycle_candidate best = search.best();
  if (best.found() && best.good(options.tolerance)) return best;
  if (options.panels == panel_rule::when_needed) {
    fill_options with_panels = options;
    with_panels.panels = panel_rule::always;
    prepared_fill cut = prepare_fill(pipeline, source, with_panels);
    cycle_candidate other = cycle_search<Policy>(cut, policy, options, devices).best();
    if (other.found() && (!best.found() || best_of({best, other}, options.tolerance) == 1)) {
      prepared = std::move(cut);
      return other;
    }
  }
  if (!best.found()) search.refuse();
  return best;
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
/// Example: `examples/fill/`.
template <class Source, class Policy = fills::oldest_longest>
[[nodiscard]] filled fill(const timeline& pipeline, const Source& source, const Policy& policy = {}, const fill_options& options = {}) {
  if constexpr (check_work_source<Source>() && check_fill_policy<Policy>()) {
    const std::int32_t devices = pipeline.program.shape.devices;
    detail::prepared_fill prepared = detail::prepare_fill(pipeline, source, options);
    detail::cycle_candidate best;
    if (policy.discipline == refresh_discipline::one_shot)
      best = detail::one_shot_cycle(prepared, policy, options);
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
