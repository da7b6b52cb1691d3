// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/work.hpp>
#include <brim/schedule/timeline.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

namespace brim {

/// How finely a source should cut what it may cut: one entry for each lane, or nothing as long as the bubbles are not known.
struct cut_limits {
  std::span<const ticks> longest_bubble{};
  std::span<const ticks> panel{};
  std::span<const ticks> chunk{};

  /// Nothing longer fits the lane, the safety margin included; 0: it has no bubble, or it is not known.
  [[nodiscard]] constexpr ticks longest_bubble_of(std::int32_t lane) const { return at(longest_bubble, lane); }
  /// Wanted length of a piece of a refresh; 0 where refreshes need not be cut.
  [[nodiscard]] constexpr ticks panel_of(std::int32_t lane) const { return at(panel, lane); }
  /// Wanted length of a piece of anything else; 0 where it need not be cut.
  [[nodiscard]] constexpr ticks chunk_of(std::int32_t lane) const { return at(chunk, lane); }

 private:
  [[nodiscard]] static constexpr ticks at(std::span<const ticks> lanes, std::int32_t lane) {
    return lanes.empty() ? 0 : lanes[static_cast<std::size_t>(lane)];
  }
};

/// Supplies optional work for the bubbles of a timeline.
///
/// Requirements, for `const S s`:
/// - `s.work(timeline_view, cut_limits) -> work_set`: everything that one refresh consists of, cut so that pieces fit where the
///   source allows cutting, and the work on the path at the end of each step.
///
/// Replicas and the work on the path are the same whatever the limits. What comes back is checked (`no_fill` names the entry).
/// Not required: that all of it fits. `fill` refuses a piece that fits no bubble, by name, before anything is placed.
/// Complexity: linear in the pieces. Called a few times a fill.
/// Models: `kfac_work`. Archetype: `tests/support/archetypes.hpp`.
template <class S>
concept work_source = requires(const S& source, const timeline_view& pipeline, const cut_limits& limits) {
  { source.work(pipeline, limits) } -> std::convertible_to<work_set>;
};

/// Whether the age of an item or its rank decides first.
enum class age_rule : std::uint8_t {
  oldest_first,  ///< an item of an older statistics step goes before every younger one
  rank_first,    ///< rank decides, then order of creation; age only between refreshes of the same batch
};

/// When the statistics of a layer are taken anew.
enum class refresh_discipline : std::uint8_t {
  staggered,  ///< each layer at its own steps of a repeating table, at most two of its refreshes in flight; the best table is searched
  one_shot,   ///< all layers at once, again at the first step after everything is done
};

template <class P>
concept has_policy_name = requires {
  { P::name } -> std::convertible_to<std::string_view>;
};

template <class P>
concept has_discipline = requires(const P& policy) {
  { policy.discipline } -> std::convertible_to<refresh_discipline>;
};

template <class P>
concept ranks_work = requires(const P& policy, const work_batch& a, const work_batch& b) {
  { P::age } -> std::convertible_to<age_rule>;
  { policy.before(a, b) } -> std::convertible_to<bool>;
};

/// A released piece that a choosing policy may take.
struct ready_work {
  const work_batch* batch;
  std::int32_t statistics_step;
};

/// What is left of a bubble, from now to its end, in absolute time.
struct bubble {
  std::int32_t lane;  ///< replica × devices + device
  interval left;
};

template <class P>
concept chooses_work = requires(const P& policy, const bubble& where, std::span<const ready_work> ready) {
  { policy.choose(where, ready) } -> std::convertible_to<std::ptrdiff_t>;
};

/// Decides which released piece goes into a bubble next. It only ever sees pieces that fit what is left of the bubble.
///
/// Requirements, for `const P p`:
/// - `P::name`: text with static storage; `p.discipline`: when layers are refreshed.
/// - either a rank (fast, logarithmic): `P::age` and `p.before(const work_batch& a, const work_batch& b) -> bool`, a strict weak
///   order; the first by age and rank is taken, order of creation breaks ties of rank;
/// - or a choice (general, linear in the ready pieces): `p.choose(bubble, std::span<const ready_work>) -> std::ptrdiff_t`, the
///   position of the piece to place now, −1 for leaving the rest of the bubble empty. Ready pieces come oldest first.
///
/// Models: `brim::fills`. Archetype: `tests/support/archetypes.hpp`; a policy of one's own: `examples/own_fill/`.
template <class P> concept fill_policy = has_policy_name<P> && has_discipline<P> && (ranks_work<P> || chooses_work<P>);

/// Stops the compilation with one sentence for each thing that `P` lacks.
template <class P>
consteval bool check_fill_policy() {
  static_assert(has_policy_name<P>,
                "fill_policy: static constexpr std::string_view name; see docs/reference/fill.md#fill_policy");
  static_assert(has_discipline<P>,
                "fill_policy: refresh_discipline discipline; see docs/reference/fill.md#fill_policy");
  static_assert(
      ranks_work<P> || chooses_work<P>,
      "fill_policy: age and before(batch, batch), or choose(bubble, ready); see docs/reference/fill.md#fill_policy");
  return fill_policy<P>;
}

/// Stops the compilation with one sentence where `S` is not a work source.
template <class S>
consteval bool check_work_source() {
  static_assert(
      work_source<S>,
      "work_source: source.work(timeline_view, cut_limits) -> work_set; see docs/reference/fill.md#work_source");
  return work_source<S>;
}

}  // namespace brim
