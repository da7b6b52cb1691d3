// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/admission.hpp>
#include <brim/fill/filler.hpp>
#include <brim/fill/prepare.hpp>
#include <brim/fill/work.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// How much work is started ahead of the bubbles.
struct admission_threshold {
  std::int32_t permille = 1500;  ///< of a lane's idle time in one step: no unit starts on a lane with more backlog
  bool caps_long_pieces =
      false;  ///< also no unit whose refreshes already wait in greater number than bubbles hold in that time

  friend constexpr bool operator==(const admission_threshold&, const admission_threshold&) = default;
};

/// Starts a layer's next refresh as long as there is room for it: the layer that was started longest ago first, at most
/// two of one layer in flight.
template <fill_policy Policy>
class threshold_admission {
 public:
  threshold_admission(const prepared_fill& prepared, const fill_group& group, admission_threshold threshold,
                      ticks margin_permille)
      : prepared_(prepared),
        group_(group),
        threshold_(threshold),
        load_(load_of(prepared.work, prepared.bubbles, group)) {
    const auto units = static_cast<std::int32_t>(group.units.size());
    const admission_table spread =
        stagger(load_, std::vector<std::int32_t>(group.units.size(), 1), units, stagger_rule::equal_units);
    last_.assign(group.units.size(), 0);
    std::int32_t before = -units;
    for (const std::vector<std::int32_t>& row : spread)
      for (const std::int32_t u : row) last_[static_cast<std::size_t>(u)] = before++;
    places_.assign(prepared.work.batches.size(), 0);
    for_each_refresh([&](std::size_t b, const work_batch& batch) {
      for (const interval& gap : prepared.bubbles.of(batch.lane))
        places_[b] += gap.length() / room_for(batch.duration, margin_permille);
    });
  }

  /// The units (positions in the group) to start with the coming step of `run`.
  std::vector<std::int32_t> next(const filler<Policy>& run) {
    std::vector<std::int32_t> by_age(last_.size());
    for (std::size_t u = 0; u < by_age.size(); ++u) by_age[u] = static_cast<std::int32_t>(u);
    std::stable_sort(by_age.begin(), by_age.end(), [&](std::int32_t a, std::int32_t b) {
      return last_[static_cast<std::size_t>(a)] < last_[static_cast<std::size_t>(b)];
    });
    std::vector<ticks> backlog;
    for (std::size_t lane = 0; lane < group_.lanes.size(); ++lane) backlog.push_back(run.backlog(lane));
    waiting_.assign(prepared_.work.batches.size(), 0);
    for (std::size_t u = 0; u < last_.size(); ++u)
      run.for_each_pending(static_cast<std::int32_t>(u), [&](std::int32_t b, std::int32_t pieces) {
        waiting_[static_cast<std::size_t>(b)] = pieces;
      });
    std::vector<std::int32_t> started;
    for (const std::int32_t u : by_age) {
      if (run.in_flight(u) >= filler<Policy>::flights || !has_room(u, backlog)) continue;
      started.push_back(u);
      last_[static_cast<std::size_t>(u)] = run.step();
      for (std::size_t lane = 0; lane < backlog.size(); ++lane)
        backlog[lane] += load_.unit_work[static_cast<std::size_t>(u)][lane];
      const work_unit& unit = unit_of(u);
      for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b)
        waiting_[b] += prepared_.work.batches[b].pieces;
    }
    return started;
  }

 private:
  [[nodiscard]] const work_unit& unit_of(std::int32_t u) const {
    return prepared_.work.units[static_cast<std::size_t>(group_.units[static_cast<std::size_t>(u)])];
  }

  template <class Use>
  void for_each_refresh(Use use) const {
    for (const std::int32_t u : group_.units) {
      const work_unit& unit = prepared_.work.units[static_cast<std::size_t>(u)];
      for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b)
        if (prepared_.work.batches[b].waits >= 0) use(b, prepared_.work.batches[b]);
    }
  }

  [[nodiscard]] bool has_room(std::int32_t u, const std::vector<ticks>& backlog) const {
    for (std::size_t lane = 0; lane < backlog.size(); ++lane)
      if (load_.unit_work[static_cast<std::size_t>(u)][lane] > 0 &&
          backlog[lane] >= load_.capacity[lane] * threshold_.permille / 1000)
        return false;
    return !threshold_.caps_long_pieces || !long_pieces_wait(u);
  }

  /// Whether a refresh of the unit has as many of its length waiting on its lane as the bubbles have places.
  [[nodiscard]] bool long_pieces_wait(std::int32_t u) const {
    const work_unit& unit = unit_of(u);
    for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b) {
      const work_batch& batch = prepared_.work.batches[b];
      if (batch.waits < 0) continue;
      std::int64_t same = 0;
      for_each_refresh([&](std::size_t other, const work_batch& o) {
        if (o.lane == batch.lane && o.duration == batch.duration) same += waiting_[other];
      });
      if (same >= std::max<std::int64_t>(1, (places_[b] * threshold_.permille + 999) / 1000)) return true;
    }
    return false;
  }

  const prepared_fill& prepared_;
  const fill_group& group_;
  admission_threshold threshold_;
  group_load load_;
  std::vector<std::int32_t>
      last_;  ///< step of the last start, by unit; negative before the first, in an order that spreads equal units
  std::vector<std::int64_t> places_;   ///< pieces of that length that one step's bubbles hold, by batch
  std::vector<std::int64_t> waiting_;  ///< pieces not yet placed, by batch
};

}  // namespace brim::detail
