// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/fill.hpp>
#include <brim/fill/kfac_work.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>

#include <string_view>
#include <vector>

/// Small pipelines and work for the tests of the fill.
namespace fill_samples {

inline brim::layer_profile layer(const char* name, brim::ticks statistic, brim::ticks refresh,
                                 brim::ticks precondition = 0) {
  brim::layer_profile l;
  l.name = name;
  l.statistic_a = statistic;
  l.statistic_b = statistic;
  l.refresh_a = refresh;
  l.refresh_b = refresh;
  l.precondition = precondition;
  l.saved_inputs = 10;
  l.saved_errors = 20;
  return l;
}

/// Forward 100, backward 200, and these layers on every stage.
inline brim::profile profile_of(std::vector<brim::layer_profile> layers) {
  brim::stage_profile stage;
  stage.cost = {.forward = 100, .backward = 200};
  stage.layers = std::move(layers);
  brim::profile p;
  p.stages = {stage};
  return p;
}

/// Twins, sums, updates, two layers of unequal size: everything that a table can have.
inline brim::kfac_work twin_work() {
  brim::profile p = profile_of({layer("small", 12, 40, 5), layer("large", 24, 70, 15)});
  p.stages.front().cost.optimizer_step = 3;
  return {.profile = p, .sync_statistic = 7};
}

inline brim::timeline twin_pipeline() {
  return brim::simulate(brim::schemes::chimera{}, {.devices = 4, .microbatches = 4}, twin_work().profile);
}

/// Makes the work that it is given, whatever the limits.
struct fixed_source {
  brim::work_set set;
  [[nodiscard]] brim::work_set work(const brim::timeline_view&, const brim::cut_limits&) const { return set; }
};

/// A batch of `user` work on one lane with a release at `at` for each of its pieces.
inline void add_user_unit(brim::work_set& set, std::int32_t lane, brim::ticks duration, brim::ticks at,
                          brim::ticks following = 0) {
  const auto unit = static_cast<std::int32_t>(set.units.size());
  set.units.push_back({.stage = brim::stage_index(lane),
                       .layer = brim::layer_index(unit),
                       .first_batch = static_cast<std::uint32_t>(set.batches.size()),
                       .batch_count = 1});
  set.batches.push_back({.what = {brim::action_kind::user, brim::side::none, brim::route_index(0),
                                  brim::stage_index(lane), brim::microbatch_index(-1), brim::layer_index(unit)},
                         .lane = lane,
                         .unit = unit,
                         .duration = duration,
                         .first_release = static_cast<std::uint32_t>(set.releases.size()),
                         .release_count = 1,
                         .following = following});
  set.releases.push_back({.at = at, .kept_from = at, .microbatch = brim::microbatch_index(0)});
}

}  // namespace fill_samples
