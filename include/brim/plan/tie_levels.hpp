// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/schedule/timeline.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// Orders pipeline actions that take no time and so share one moment: an action's level is above the levels of all that
/// it depends on. Empty where every action takes time, which is the rule; then the times alone give the order.
class tie_levels {
 public:
  explicit tie_levels(const timeline_view& t)
      : microbatches_(static_cast<std::size_t>(t.shape.microbatches)),
        stages_(static_cast<std::size_t>(t.stages)) {
    const auto no_time = [](const interval& i) { return i.start == i.end; };
    if (std::none_of(t.times.begin(), t.times.end(), no_time)) return;
    levels_.assign(4 * microbatches_ * stages_, -1);
    next_.assign(t.offsets.begin(), t.offsets.end() - 1);
    // Each sweep goes on where the last one had to stop, so that no action is visited twice.
    for (bool open = true, changed = true; open && changed;) {
      open = changed = false;
      for (const device_index d : devices(t.shape)) open |= sweep(t, d, changed);
    }
  }

  /// The level of a pipeline action that takes no time.
  [[nodiscard]] std::int32_t of(const action& a) const {
    return levels_.empty() ? 0 : std::max(0, levels_[slot(a.kind, a.stage.value, a.microbatch)]);
  }

 private:
  [[nodiscard]] std::size_t slot(action_kind kind, std::int32_t stage, microbatch_index m) const {
    const std::size_t part = kind == action_kind::forward           ? 0
                             : kind == action_kind::backward_weight ? 2
                             : kind == action_kind::recompute       ? 3
                                                                    : 1;
    return (static_cast<std::size_t>(stage) * microbatches_ + m.at()) * 4 + part;
  }

  /// Gives levels to the device's actions up to the first whose input has none; true where some are left.
  bool sweep(const timeline_view& t, device_index d, bool& changed) {
    for (std::size_t& i = next_[d.at()]; i < t.offsets[d.at() + 1]; ++i) {
      const action& a = t.actions[i];
      const bool timeless = t.times[i].start == t.times[i].end;
      std::int32_t level = 0;
      if (timeless) {
        if (i > t.offsets[d.at()]) {
          const action& before = t.actions[i - 1];
          level = levels_[slot(before.kind, before.stage.value, before.microbatch)];
        }
        const std::int32_t source = a.kind == action_kind::forward ? a.stage.value - 1 : a.stage.value + 1;
        if (a.kind <= action_kind::backward_input && source >= 0 && source < t.stages) {
          const std::int32_t input =
              levels_[slot(a.kind, source, a.microbatch)];  // both kinds of backward share a slot
          if (input < 0) return true;
          level = std::max(level, input);
        }
        ++level;
      }
      levels_[slot(a.kind, a.stage.value, a.microbatch)] = level;
      changed = true;
    }
    return false;
  }

  std::size_t microbatches_, stages_;
  std::vector<std::int32_t> levels_;
  std::vector<std::size_t> next_;  ///< first action of a device that has no level
};

}  // namespace brim::detail
