// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/concepts.hpp>

#include <archetypes.hpp>

#include <cstddef>
#include <span>

/// For each concept of the fill a type that models it and nothing more.
namespace test_support {

/// `fill_policy` with a rank.
struct ranked_policy_archetype : archetype_base {
  using archetype_base::archetype_base;
  static constexpr const char* name = "ranked archetype";
  static constexpr only_converts<brim::age_rule> age{brim::age_rule::oldest_first};
  only_converts<brim::refresh_discipline> discipline{brim::refresh_discipline::staggered};
  [[nodiscard]] only_converts<bool> before(const brim::work_batch& a, const brim::work_batch& b) const {
    return {a.duration > b.duration};
  }
};

/// `fill_policy` with a choice.
struct choosing_policy_archetype : archetype_base {
  using archetype_base::archetype_base;
  static constexpr const char* name = "choosing archetype";
  only_converts<brim::refresh_discipline> discipline{brim::refresh_discipline::staggered};
  [[nodiscard]] only_converts<std::ptrdiff_t> choose(const brim::bubble&, std::span<const brim::ready_work>) const {
    return {0};
  }
};

/// `work_source`: one piece of the caller's own work after time 10.
struct work_source_archetype : archetype_base {
  using archetype_base::archetype_base;
  [[nodiscard]] only_converts<brim::work_set> work(const brim::timeline_view&, const brim::cut_limits&) const {
    brim::work_set set;
    set.units.push_back({.batch_count = 1});
    set.batches.push_back({.what = {.kind = brim::action_kind::user}, .duration = 5, .release_count = 1});
    set.releases.push_back({.at = 10});
    return {set};
  }
};

}  // namespace test_support
