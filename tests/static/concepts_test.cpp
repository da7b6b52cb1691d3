// SPDX-License-Identifier: Apache-2.0
#include "archetypes.hpp"

#include <doctest/doctest.h>
#include <brim/model/profile.hpp>
#include <brim/schedule/lower_bound.hpp>
#include <brim/schedule/memory.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>

#include <concepts>
#include <type_traits>

// What models which concept, what does not and why; and every algorithm instantiated with types that can do no more
// than the concepts ask.

namespace {

using namespace test_support;
using brim::action;
using brim::device_index;
using brim::pipeline_shape;
using brim::stage_index;

static_assert(brim::pipeline_scheme<scheme_archetype>);
static_assert(!brim::has_own_placement<scheme_archetype> && !brim::has_refusal<scheme_archetype>);
static_assert(brim::pipeline_scheme<full_scheme_archetype>);
static_assert(brim::has_own_placement<full_scheme_archetype> && brim::has_refusal<full_scheme_archetype>);
static_assert(brim::cost_model<cost_archetype> && !brim::preparable_cost_model<cost_archetype>);
static_assert(brim::cost_model<preparable_cost_archetype> && brim::preparable_cost_model<preparable_cost_archetype>);
static_assert(brim::memory_model<memory_archetype>);
static_assert(!std::copyable<scheme_archetype> && !std::default_initializable<cost_archetype>);

static_assert(brim::cost_model<brim::uniform_cost> && brim::cost_model<brim::stage_costs> &&
              brim::cost_model<brim::placed_costs>);
static_assert(brim::cost_model<brim::profile> && brim::preparable_cost_model<brim::profile>);
static_assert(brim::memory_model<brim::uniform_memory> && brim::memory_model<brim::profile>);
static_assert(brim::has_own_placement<brim::schemes::chimera> && !brim::has_own_placement<brim::schemes::gpipe>);
static_assert(brim::has_refusal<brim::schemes::gpipe> && !brim::has_refusal<brim::schemes::looped_bfs>);
static_assert(brim::preparable_scheme<brim::schemes::v_half> && !brim::preparable_scheme<brim::schemes::gpipe>);
static_assert(brim::pipeline_scheme<preparable_scheme_archetype> &&
              brim::preparable_scheme<preparable_scheme_archetype>);

// Each misses one thing.
struct nameless {
  void order(const pipeline_shape&, device_index, brim::order_sink&) const;
};
struct orderless {
  static constexpr std::string_view name = "orderless";
};
struct mutable_order {
  static constexpr std::string_view name = "mutable";
  void order(const pipeline_shape&, device_index, brim::order_sink&);
};
struct numbered {
  static constexpr int name = 1;
  void order(const pipeline_shape&, device_index, brim::order_sink&) const;
};
static_assert(!brim::pipeline_scheme<nameless> && brim::has_device_order<nameless>);
static_assert(!brim::pipeline_scheme<orderless> && brim::has_scheme_name<orderless>);
static_assert(!brim::pipeline_scheme<mutable_order>);
struct mutable_prepare : scheme_archetype {
  scheme_archetype prepare(const pipeline_shape&);
};
static_assert(!brim::pipeline_scheme<mutable_prepare> && brim::has_device_order<mutable_prepare>);
static_assert(!brim::pipeline_scheme<numbered>);
static_assert(!brim::pipeline_scheme<int>);

// Each has an optional member in a form that nobody would call.
struct mutable_placement : scheme_archetype {
  brim::placement placement(const pipeline_shape&);
};
struct placement_of_devices : scheme_archetype {
  brim::placement placement(int devices) const;
};
struct stored_placement : scheme_archetype {
  brim::placement placement;
};
struct refusal_without_reason : scheme_archetype {
  bool refusal(const pipeline_shape&) const;
};
struct refusal_of_anything : scheme_archetype {
  int refusal(const auto& shape) const;
};
struct refusal_that_is_gone : scheme_archetype {
  std::string refusal(const pipeline_shape&) const;
};
struct refusal_that_stays : scheme_archetype {
  const std::string& refusal(const pipeline_shape&) const;
};
static_assert(!brim::pipeline_scheme<mutable_placement> && !brim::own_placement_or_none<mutable_placement>);
static_assert(!brim::pipeline_scheme<placement_of_devices> && !brim::pipeline_scheme<stored_placement>);
static_assert(!brim::pipeline_scheme<refusal_without_reason> && !brim::refusal_or_none<refusal_without_reason>);
static_assert(!brim::pipeline_scheme<refusal_of_anything> && !brim::pipeline_scheme<refusal_that_is_gone>);
static_assert(brim::pipeline_scheme<refusal_that_stays> && brim::has_refusal<refusal_that_stays>);

struct no_transfer {
  brim::ticks duration(const action&, device_index) const;
};
struct no_duration {
  brim::ticks transfer(stage_index) const;
};
struct mutable_cost {
  brim::ticks duration(const action&, device_index);
  brim::ticks transfer(stage_index) const;
};
struct text_cost {
  const char* duration(const action&, device_index) const;
  brim::ticks transfer(stage_index) const;
};
static_assert(!brim::cost_model<no_transfer> && brim::has_duration<no_transfer>);
static_assert(!brim::cost_model<no_duration> && brim::has_transfer<no_duration>);
static_assert(!brim::cost_model<mutable_cost> && !brim::cost_model<text_cost> &&
              !brim::cost_model<brim::uniform_memory>);

struct no_resident {
  brim::bytes at_start(const action&, device_index) const;
  brim::bytes at_end(const action&, device_index) const;
};
struct no_end {
  brim::bytes at_start(const action&, device_index) const;
  brim::bytes resident(brim::route_index, stage_index) const;
};
static_assert(!brim::memory_model<no_resident> && !brim::memory_model<no_end> &&
              !brim::memory_model<brim::uniform_cost>);

// Indices do not mix.
static_assert(!std::convertible_to<int, device_index> && std::constructible_from<device_index, int>);
static_assert(!std::convertible_to<device_index, stage_index> && !std::constructible_from<stage_index, device_index>);
static_assert(!std::equality_comparable_with<device_index, stage_index>);
static_assert(!std::convertible_to<device_index, int>);

// Sizes that documentation and speed rely on.
static_assert(sizeof(action) == 16 && sizeof(brim::interval) == 16, "32 bytes an action");
static_assert(std::is_trivially_copyable_v<action> && std::is_trivially_copyable_v<brim::interval>);
static_assert(std::is_aggregate_v<pipeline_shape> && std::is_aggregate_v<brim::timeline> &&
              std::is_aggregate_v<brim::order>);
static_assert(std::regular<brim::timeline> && std::regular<brim::placement>);

constexpr bool run_everything() {
  const scheme_archetype scheme(0);
  const full_scheme_archetype full(0);
  const cost_archetype costs(0);
  const preparable_cost_archetype prepared(0);
  const memory_archetype memory(0);
  constexpr pipeline_shape shape{2, 3};

  const brim::timeline t = brim::simulate(scheme, shape, costs);
  // forwards 0-3 | arrive 4..6, 4-7 | backwards 7-13 | arrive 12, 14, 16: 12-18
  if (brim::makespan(t) != 18 || brim::period(t) != 18 || brim::longest_span(t) != 18 || brim::busy(t) != 18)
    return false;
  if (brim::makespan_bound(t, costs).length != 3 * 3 + 1 + 3 + 2 + 3) return false;
  if (brim::peak_memory(t, memory) != std::vector<brim::bytes>{103, 103}) return false;
  if (brim::simulate(full, shape, costs).times != t.times) return false;
  if (brim::refusal_of(full, {.devices = 2, .microbatches = 3, .chunks = 2}) != "no chunks") return false;
  if (!brim::refusal_of(scheme, shape).empty()) return false;
  if (brim::makespan(brim::simulate(scheme, shape, prepared)) != 180) return false;
  if (brim::makespan_bound(t, prepared).length != 180) return false;
  brim::timeline again;
  brim::simulate_into(again, scheme, shape, prepared);
  brim::simulate_into(again, costs);
  return again == t;
}
static_assert(run_everything());

}  // namespace

TEST_CASE("archetypes go through every algorithm") { CHECK(run_everything()); }

TEST_CASE("the audits agree with the concepts") {
  CHECK(brim::check_pipeline_scheme<scheme_archetype>());
  CHECK(brim::check_cost_model<cost_archetype>());
  CHECK(brim::check_memory_model<memory_archetype>());
}
