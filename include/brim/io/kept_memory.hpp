// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/filled.hpp>
#include <brim/model/profile.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace brim::detail {

/// A change of the bytes that a device keeps.
struct memory_change {
  ticks at = 0;
  bytes change = 0;
};

/// What every device of every replica keeps for statistics that are still to run, beyond the microbatch's own backward,
/// as changes by time. `steps` steps are covered, from the middle of a cycle that repeats.
class kept_memory {
 public:
  kept_memory(const filled& f, const profile& costs, std::int32_t steps)
      : f_(f),
        costs_(costs),
        window_(steps * f.step_length) {
    const timeline_view t = f.pipeline;
    lanes_.resize(static_cast<std::size_t>(f.replicas) * static_cast<std::size_t>(t.shape.devices));
    for (std::size_t i = 0; i < t.actions.size(); ++i)
      if (t.actions[i].kind == action_kind::backward || t.actions[i].kind == action_kind::backward_weight)
        kept_from_[{t.actions[i].stage.value, t.actions[i].microbatch.value}] = t.times[i].end;
    for (const placed_work& w : f.work)
      if (w.what.kind == action_kind::statistic) add(w);
    for (const auto& [which, end] : ends_) hold(which, end);
    for (std::vector<memory_change>& changes : lanes_)
      std::stable_sort(changes.begin(), changes.end(),
                       [](const memory_change& x, const memory_change& y) { return x.at < y.at; });
  }

  [[nodiscard]] const std::vector<memory_change>& of(std::size_t lane) const { return lanes_[lane]; }

 private:
  /// Lane, origin step, stage, layer, side, microbatch.
  using key = std::array<std::int32_t, 6>;

  void add(const placed_work& w) {
    const std::int32_t lane = w.replica * f_.pipeline.program.shape.devices + w.device.value;
    ticks& end = ends_[{lane, w.origin_step, w.what.stage.value, w.what.layer.value,
                        static_cast<std::int32_t>(w.what.side), w.what.microbatch.value}];
    end = std::max(end, w.time.end + w.step * f_.step_length);
  }
  void hold(const key& which, ticks end) {
    const auto& [lane, origin, stage, layer, matrix_side, microbatch] = which;
    const std::vector<layer_profile>& layers = costs_.stage(stage_index(stage)).layers;
    const auto from = kept_from_.find({stage, microbatch});
    if (from == kept_from_.end() || layer < 0 || static_cast<std::size_t>(layer) >= layers.size()) return;
    const layer_profile& kept = layers[static_cast<std::size_t>(layer)];
    const bytes held = static_cast<side>(matrix_side) == side::a ? kept.saved_inputs : kept.saved_errors;
    if (held == 0) return;
    // The cycle repeats: the same data are kept a whole number of cycles earlier and later, too.
    const ticks cycle = f_.cycle_length * f_.step_length;
    const ticks begin = from->second + origin * f_.step_length;
    for (ticks shift = -(end / cycle) * cycle; begin + shift < window_; shift += cycle) {
      const ticks first = std::max<ticks>(0, begin + shift);
      const ticks last = std::min(window_, end + shift);
      if (first >= last) continue;
      lanes_[static_cast<std::size_t>(lane)].push_back({first, held});
      lanes_[static_cast<std::size_t>(lane)].push_back({last, -held});
    }
  }

  const filled& f_;
  const profile& costs_;
  ticks window_;
  std::map<std::pair<std::int32_t, std::int32_t>, ticks> kept_from_;  ///< (stage, microbatch) → end of its backward
  std::map<key, ticks> ends_;
  std::vector<std::vector<memory_change>> lanes_;
};

}  // namespace brim::detail
