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
    const detail::prepared_fill prepared = detail::prepare_fill(pipeline, source, options);
    detail::cycle_candidate best = policy.discipline == refresh_discipline::one_shot
                                       ? detail::one_shot_cycle(prepared, policy, options, devices)
                                       : detail::cycle_search<Policy>(prepared, policy, options, devices).best();
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
