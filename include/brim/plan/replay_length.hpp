// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/model/costs.hpp>
#include <brim/plan/verify.hpp>

#include <cstdint>
#include <vector>

namespace brim {
namespace detail {

/// Durations of a plan's own timeline; collectives and transfers take no time.
class timeline_durations {
 public:
  static constexpr bool timed = true;

  explicit timeline_durations(const plan& p) : lengths_(p.instructions.size(), 0) {
    auto entry = p.timeline.begin();
    for (const stream& s : p.streams) {
      if (s.kind != stream_kind::compute) continue;
      for (std::uint32_t at = s.begin; at < s.end; ++at) {
        if (is_communication(p.instructions[at].what.kind)) continue;
        while (entry != p.timeline.end() && is_communication(entry->what.kind)) ++entry;
        if (entry == p.timeline.end()) return;
        lengths_[at] = (entry++)->time.length();
      }
    }
  }

  [[nodiscard]] ticks of(std::uint32_t at) const { return lengths_[at]; }
  [[nodiscard]] static ticks transfer(stage_index) { return 0; }

 private:
  std::vector<ticks> lengths_;
};

/// Durations of a cost model for the pipeline, of the timeline for everything else.
template <class Costs>
class model_durations {
 public:
  static constexpr bool timed = true;

  model_durations(const plan_index& index, const Costs& costs) : x_(index), costs_(costs), others_(index.p) {}

  [[nodiscard]] ticks of(std::uint32_t at) const {
    const action& a = x_.p.instructions[at].what;
    return is_pipeline_action(a.kind) ? costs_.duration(a, x_.device_at(at)) : others_.of(at);
  }
  [[nodiscard]] ticks transfer(stage_index lower) const { return costs_.transfer(lower); }

 private:
  const plan_index& x_;
  const Costs& costs_;
  timeline_durations others_;
};

template <class MakeDurations>
ticks replay_length_with(const plan& p, const MakeDurations& make) {
  plan_index index{p};
  if (!check_plan(index)) raise(index.found->code, index.found->sentence, index.found->site);
  const auto durations = make(index);
  plan_progress<std::remove_cvref_t<decltype(durations)>> progress(index, durations);
  progress.run();
  return progress.length();
}

}  // namespace detail

/// How long a plan takes under its transport when nothing starts by the clock: every entry starts when its stream has
/// come to it, its events are recorded and, for a transfer, both ends are there. A transfer occupies both ends for its
/// time (with `buffered` neither). Durations of pipeline actions and transfers are those of `costs`, others those of the
/// plan's timeline; collectives take no time. Complexity: that of `find_fault`. Errors: those of `verify`.
template <class Costs>
[[nodiscard]] ticks replay_length(const plan& p, const Costs& costs) {
  if constexpr (check_cost_model<Costs>())
    return with_prepared(costs, p.where, [&](const auto& prepared) {
      return detail::replay_length_with(p, [&](const detail::plan_index& index) {
        return detail::model_durations<std::remove_cvref_t<decltype(prepared)>>(index, prepared);
      });
    });
}

/// As above, with all durations of the plan's timeline and free transfers.
[[nodiscard]] inline ticks replay_length(const plan& p) {
  return detail::replay_length_with(
      p, [](const detail::plan_index& index) { return detail::timeline_durations(index.p); });
}

}  // namespace brim
