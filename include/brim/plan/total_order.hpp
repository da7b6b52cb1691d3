// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/sort_key.hpp>
#include <brim/plan/placed_actions.hpp>
#include <brim/plan/tie_levels.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace brim::detail {

/// The place of something in the total order of a plan. An instant `{start, step, level}` of a compute action compares
/// with it: what is not above it has to be issued before.
struct instant {
  ticks time = 0;
  std::int32_t step = 0;
  std::int32_t level = 0;

  friend constexpr auto operator<=>(const instant&, const instant&) = default;
};

/// Levels of second-order work lie above those of all pipeline actions.
inline constexpr std::int32_t second_order_level = std::int32_t{1} << 28;

/// A transfer or a collective. Two devices (or all members) issue it at this place of the total order.
struct communication {
  instant at;                      ///< when its (last) producer has finished
  std::int32_t stage = -1;         ///< of the producer
  std::int32_t microbatch = -1;    ///< of a transfer
  std::int32_t first_member = -1;  ///< of a collective: its members in `members`
  std::int32_t last_member = -1;
  action_kind kind = action_kind::send_activation;
  route_index route{0};

  [[nodiscard]] constexpr auto key() const { return sort_key(at, stage, kind, microbatch, first_member); }
};

/// Where a collective's entries stand in the list of placed actions of this plan.
using collective_members = std::vector<std::uint32_t>;

/// All transfers and collectives of a plan, in one order that agrees with every dependency: by the time at which the
/// producer finishes, ties by stage, direction and microbatch. Devices that issue their shares in this order can never
/// deadlock, whatever the durations turn out to be. Complexity: O(n log devices).
class total_order {
 public:
  total_order(const timeline_view& t, const tie_levels& levels, std::span<const timed_action> placed)
      : t_(t),
        levels_(levels) {
    std::vector<std::size_t> runs;
    for (std::size_t i = 0; i < placed.size(); ++i) {
      if (i == 0 || placed[i].device != placed[i - 1].device) runs.push_back(all_.size());
      add_transfer(placed[i]);
    }
    // Within a device producers stand in order of time, save where steps overlap or nothing takes time.
    runs.push_back(all_.size());
    for (std::size_t r = 0; r + 1 < runs.size(); ++r) {
      const auto first = all_.begin() + static_cast<std::ptrdiff_t>(runs[r]);
      const auto last = all_.begin() + static_cast<std::ptrdiff_t>(runs[r + 1]);
      if (!std::is_sorted(first, last, before)) std::sort(first, last, before);
    }
    merge(runs);
  }

  /// Adds collectives: `others` are entries of other replicas, which take part but are not in this plan.
  void add_collectives(std::span<const timed_action> placed, std::span<const timed_action> others) {
    struct entry {
      const timed_action* what;
      std::int64_t index;  ///< −1 for one of another replica
    };
    std::vector<entry> entries;
    for (std::size_t i = 0; i < placed.size(); ++i)
      if (is_collective(placed[i].what.kind)) entries.push_back({&placed[i], static_cast<std::int64_t>(i)});
    for (const timed_action& o : others) entries.push_back({&o, -1});
    const auto key = [](const entry& e) {
      const action& a = e.what->what;
      return sort_key(a.kind, a.stage, a.layer, a.side, e.what->step, e.what->origin_step, e.what->piece);
    };
    std::sort(entries.begin(), entries.end(),
              [&](const entry& x, const entry& y) { return sort_key(key(x), x.index) < sort_key(key(y), y.index); });
    const std::size_t transfers = all_.size();
    for (std::size_t i = 0; i < entries.size();) {
      const action& a = entries[i].what->what;
      communication c{
          .at = {0, entries[i].what->step, second_order_level + phase_of(a)}, .stage = a.stage.value, .kind = a.kind};
      c.first_member = static_cast<std::int32_t>(members_.size());
      std::size_t j = i;
      for (; j < entries.size() && key(entries[j]) == key(entries[i]); ++j) {
        c.at.time = std::max(c.at.time, entries[j].what->time.start);
        if (entries[j].index >= 0) members_.push_back(static_cast<std::uint32_t>(entries[j].index));
      }
      c.last_member = static_cast<std::int32_t>(members_.size());
      all_.push_back(c);
      i = j;
    }
    std::sort(all_.begin() + static_cast<std::ptrdiff_t>(transfers), all_.end(), before);
    merge({0, transfers, all_.size()});
  }

  [[nodiscard]] std::span<const communication> all() const { return all_; }
  [[nodiscard]] std::span<const std::uint32_t> members(const communication& c) const {
    return std::span(members_).subspan(static_cast<std::size_t>(c.first_member),
                                       static_cast<std::size_t>(c.last_member - c.first_member));
  }
  /// When a compute action is issued.
  [[nodiscard]] instant issued(const timed_action& a) const {
    constexpr std::int32_t above_all = 0x7fffffff;
    return {a.time.start, a.step, a.time.start == a.time.end ? level(a) : above_all};
  }

 private:
  static bool before(const communication& x, const communication& y) { return x.key() < y.key(); }

  [[nodiscard]] std::int32_t level(const timed_action& a) const {
    return is_pipeline_action(a.what.kind) ? levels_.of(a.what) : second_order_level + phase_of(a.what);
  }

  void add_transfer(const timed_action& a) {
    const bool onward = a.what.kind == action_kind::forward;
    if (!onward && a.what.kind != action_kind::backward && a.what.kind != action_kind::backward_input) return;
    const std::int32_t target = a.what.stage.value + (onward ? 1 : -1);
    if (target < 0 || target >= t_.stages || t_.device_of(a.what.route, stage_index(target)) == a.device) return;
    all_.push_back({.at = {a.time.end, a.step, a.time.start == a.time.end ? level(a) : 0},
                    .stage = a.what.stage.value,
                    .microbatch = a.what.microbatch.value,
                    .kind = onward ? action_kind::send_activation : action_kind::send_gradient,
                    .route = a.what.route});
  }

  /// Merges sorted runs two by two until one is left.
  void merge(std::vector<std::size_t> runs) {
    std::vector<communication> next(all_.size());
    while (runs.size() > 2) {
      std::vector<std::size_t> longer;
      for (std::size_t r = 0; r + 1 < runs.size(); r += 2) {
        const auto at = [&](std::size_t i) {
          return all_.begin() + static_cast<std::ptrdiff_t>(runs[std::min(i, runs.size() - 1)]);
        };
        std::merge(at(r), at(r + 1), at(r + 1), at(r + 2), next.begin() + static_cast<std::ptrdiff_t>(runs[r]), before);
        longer.push_back(runs[r]);
      }
      longer.push_back(runs.back());
      all_.swap(next);
      runs.swap(longer);
    }
  }

  const timeline_view& t_;
  const tie_levels& levels_;
  std::vector<communication> all_;
  collective_members members_;
};

}  // namespace brim::detail
