// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/index.hpp>
#include <brim/core/ticks.hpp>
#include <brim/model/action.hpp>
#include <brim/schedule/timeline.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace brim {

/// The longest step that can be filled: 2^44 ticks, 4.9 hours in nanoseconds. A run of 2^17 steps then fits 64 bits.
inline constexpr ticks longest_filled_step = ticks{1} << 44;

/// The greatest number of pieces that one refresh of everything may consist of.
inline constexpr std::int64_t most_work_pieces = std::int64_t{1} << 26;

/// The moment of a step at which data for optional work exists. Times are relative to the start of the step.
struct work_release {
  ticks at = 0;         ///< the data exist
  ticks kept_from = 0;  ///< from here on they are kept only for this work: the end of the microbatch's own backward
  microbatch_index microbatch{-1};

  friend constexpr bool operator==(const work_release&, const work_release&) = default;
};

/// Equal pieces of work on one lane (a device of one replica), executed in order: a layer's input-side statistic over all
/// microbatches, or the panels of one inversion.
///
/// A batch either has releases, one for each `division` pieces, or waits for a gate of its unit. A piece is never divided
/// further, and never waits inside: what may be cut has been cut by the source.
struct work_batch {
  action what{};          ///< kind, side, route, stage, layer
  std::int32_t lane = 0;  ///< replica × devices + device
  std::int32_t unit = 0;
  ticks duration = 0;  ///< of one piece
  std::int32_t pieces = 1;
  std::int32_t division = 1;  ///< consecutive pieces that share one release
  std::uint32_t first_release = 0;
  std::uint32_t release_count = 0;  ///< 0: the batch waits for a gate
  std::int32_t waits = -1;          ///< gate that must open first
  std::int32_t signals = -1;        ///< gate that opens when every batch that signals it is complete
  ticks delay = 0;                  ///< from the opening of the awaited gate to the release: an asynchronous collective
  ticks following = 0;              ///< work of its unit that must come after this batch
  bytes kept = 0;                   ///< memory that one release's data hold until its pieces are done

  friend constexpr bool operator==(const work_batch&, const work_batch&) = default;
};

/// What is started as a whole: the statistics of one step for one layer, and its refresh. It never mixes steps.
struct work_unit {
  stage_index stage{0};
  layer_index layer{0};
  std::uint32_t first_batch = 0;
  std::uint32_t batch_count = 0;
  std::int32_t gates = 0;

  friend constexpr bool operator==(const work_unit&, const work_unit&) = default;
};

/// Work on the path at the end of every step of one lane.
struct tail_work {
  action what{};
  std::int32_t lane = 0;
  ticks duration = 0;

  friend constexpr bool operator==(const tail_work&, const tail_work&) = default;
};

/// All optional work of one refresh of everything, and what each step pays for using it.
struct work_set {
  std::int32_t replicas = 1;
  std::vector<work_unit> units{};
  std::vector<work_batch> batches{};     ///< unit by unit
  std::vector<work_release> releases{};  ///< batch by batch, by time
  std::vector<tail_work> tail{};         ///< lane by lane, in order
  std::vector<std::string> names{};      ///< of the units, for messages; may be empty

  friend bool operator==(const work_set&, const work_set&) = default;
};

}  // namespace brim
