// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "corpus.hpp"
#include "stopwatch.hpp"

#include <brim/fill/filler.hpp>
#include <brim/fill/kfac_work.hpp>
#include <brim/fill/options.hpp>
#include <brim/fill/prepare.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace bench {

/// Seconds and pieces of filling steps with the policy alone: no search, no report. A refresh of everything starts as
/// soon as a group is idle, so that every policy sees the same admission.
struct placing {
  double seconds = 0;
  std::size_t pieces = 0;
};

template <class Policy>
placing place_steps(const brim::detail::prepared_fill& prepared, const Policy& policy,
                    const brim::fill_options& options, int steps) {
  placing out;
  for (const brim::detail::fill_group& group : prepared.groups) {
    brim::detail::filler<Policy> run(prepared.work, prepared.bubbles, group, policy, options.margin_permille);
    std::vector<std::int32_t> all(group.units.size());
    std::iota(all.begin(), all.end(), 0);
    const auto step = [&] {
      if (run.idle())
        run.run_step(all);
      else
        run.run_step({});
    };
    step();
    const std::size_t before = run.placed().size();
    out.seconds += seconds([&] {
      for (int i = 0; i < steps; ++i) step();
    });
    out.pieces += run.placed().size() - before;
  }
  return out;
}

/// Nanoseconds a piece, the least of `repetitions`.
template <class Policy>
double placing_nanoseconds(const fill_case& where, const Policy& policy, const brim::fill_options& options,
                           int repetitions) {
  const auto prepared = brim::detail::prepare_fill(where.pipeline, brim::kfac_work{.profile = where.costs}, options);
  double least = 0;
  for (int i = 0; i < repetitions; ++i) {
    const placing run = place_steps(prepared, policy, options, 20);
    const double each = run.pieces == 0 ? 0 : 1e9 * run.seconds / static_cast<double>(run.pieces);
    if (i == 0 || each < least) least = each;
  }
  return least;
}

}  // namespace bench
