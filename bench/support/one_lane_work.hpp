// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/concepts.hpp>
#include <brim/fill/work.hpp>
#include <brim/schedule/timeline.hpp>

#include <cstddef>
#include <cstdint>

namespace bench {

/// A work source for measuring: `pieces` pieces on the first device, in `batches` batches of one duration each, released
/// microbatch by microbatch.
struct one_lane_work {
  std::int32_t pieces = 1000;
  std::int32_t batches = 20;

  static constexpr brim::ticks shortest = 50'000;
  static constexpr brim::ticks spread = 100'000;

  [[nodiscard]] brim::work_set work(const brim::timeline_view& t, const brim::cut_limits& /*unused*/) const {
    brim::work_set out;
    const std::int32_t each = pieces / batches;
    std::uint64_t random = 12'345;
    for (std::int32_t b = 0; b < batches; ++b) {
      random = (random * 1'103'515'245 + 12'345) % 2'147'483'648U;
      out.units.push_back({.stage = brim::stage_index(0),
                           .layer = brim::layer_index(b),
                           .first_batch = static_cast<std::uint32_t>(b),
                           .batch_count = 1,
                           .gates = 0});
      brim::work_batch batch;
      batch.what = {brim::action_kind::statistic, brim::side::a,       brim::route_index(0), brim::stage_index(0),
                    brim::microbatch_index(-1),   brim::layer_index(b)};
      batch.unit = b;
      batch.duration = shortest + static_cast<brim::ticks>(random % static_cast<std::uint64_t>(spread));
      batch.pieces = each;
      batch.first_release = static_cast<std::uint32_t>(out.releases.size());
      batch.release_count = static_cast<std::uint32_t>(each);
      for (std::int32_t i = 0; i < each; ++i) {
        const std::int64_t microbatch = std::int64_t{i} * t.shape.microbatches / each;
        const brim::ticks end = t.times[static_cast<std::size_t>(microbatch)].end;
        out.releases.push_back({end, end, brim::microbatch_index(microbatch)});
      }
      out.batches.push_back(batch);
    }
    return out;
  }
};

}  // namespace bench
