// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <doctest/doctest.h>
#include <brim/model/split_stages.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using brim::layer_profile;
using brim::profile;
using brim::split_stages;
using brim::stage_profile;

layer_profile layer(std::string name, brim::ticks refresh) {
  layer_profile made;
  made.name = std::move(name);
  made.refresh_a = refresh;
  return made;
}

/// The names of the layers of every stage, e.g. `{"ab", "c"}`.
std::vector<std::string> names_of(const profile& p) {
  std::vector<std::string> names;
  for (const stage_profile& stage : p.stages) {
    names.emplace_back();
    for (const layer_profile& l : stage.layers) names.back() += l.name;
  }
  return names;
}

profile odd_profile() {
  profile p;
  p.name = "odd";
  p.stages.resize(2);
  p.stages[0].cost = {
      .forward = 7, .backward = 11, .backward_input = 10, .backward_weight = 1, .recompute = 8, .optimizer_step = 1};
  p.stages[0].memory = {
      .weights = 100, .activations = 10, .released_by_backward_input = 3, .released_by_backward_weight = 7};
  p.stages[1].cost = {
      .forward = 30, .backward = 60, .backward_input = 30, .backward_weight = 30, .recompute = 30, .optimizer_step = 0};
  p.links = {.latency = 1, .p2p = {5}};
  p.devices = {{.speed = 2.0, .memory = 9}, {.speed = 1.0, .memory = 8}};
  return p;
}

}  // namespace

TEST_CASE("parts of a stage differ by one at most, the larger ones first, and have the old sum") {
  const profile whole = odd_profile();
  const profile cut = split_stages(whole, 3);
  REQUIRE(cut.stages.size() == 6);
  CHECK(cut.stages[0].cost.forward == 3);
  CHECK(cut.stages[1].cost.forward == 2);
  CHECK(cut.stages[2].cost.forward == 2);
  CHECK(cut.stages[3].cost.forward == 10);
  CHECK(cut.stages[0].memory.weights == 34);
  for (std::size_t s = 0; s < 2; ++s) {
    brim::stage_cost cost{0, 0, 0, 0, 0, 0};
    brim::stage_memory memory{};
    for (std::size_t part = 3 * s; part < 3 * s + 3; ++part) {
      const brim::stage_cost& c = cut.stages[part].cost;
      const brim::stage_memory& m = cut.stages[part].memory;
      CHECK(c.backward == c.backward_input + c.backward_weight);
      CHECK(m.activations == m.released_by_backward_input + m.released_by_backward_weight);
      CHECK(c.backward_weight >= 0);
      cost = {cost.forward + c.forward,
              cost.backward + c.backward,
              cost.backward_input + c.backward_input,
              cost.backward_weight + c.backward_weight,
              cost.recompute + c.recompute,
              cost.optimizer_step + c.optimizer_step};
      memory = {memory.weights + m.weights, memory.activations + m.activations,
                memory.released_by_backward_input + m.released_by_backward_input,
                memory.released_by_backward_weight + m.released_by_backward_weight};
    }
    CHECK(cost == whole.stages[s].cost);
    CHECK(memory == whole.stages[s].memory);
  }
  CHECK(cut.name == whole.name);
  CHECK(cut.devices == whole.devices);
  CHECK(cut.links == whole.links);
}

TEST_CASE("layers stay in order and are dealt by their work") {
  profile p;
  p.stages.resize(1);
  p.stages[0].layers = {layer("a", 1), layer("b", 1), layer("c", 1), layer("D", 50), layer("E", 53)};
  CHECK(names_of(split_stages(p, 2)) == std::vector<std::string>{"abcD", "E"});
  p.stages[0].layers = {layer("a", 2), layer("b", 2), layer("c", 2), layer("d", 2), layer("e", 2)};
  CHECK(names_of(split_stages(p, 2)) == std::vector<std::string>{"ab", "cde"});
  CHECK(names_of(split_stages(p, 5)) == std::vector<std::string>{"a", "b", "c", "d", "e"});
}

TEST_CASE("layers without work are dealt by number, and chunks may outnumber them") {
  profile p;
  p.stages.resize(1);
  p.stages[0].layers = {layer("a", 0), layer("b", 0), layer("c", 0), layer("d", 0)};
  CHECK(names_of(split_stages(p, 2)) == std::vector<std::string>{"ab", "cd"});
  p.stages[0].layers.resize(1);
  CHECK(names_of(split_stages(p, 3)) == std::vector<std::string>{"", "a", ""});
}

TEST_CASE("links close to a ring") {
  profile p;
  p.stages.resize(3);
  p.links.p2p = {4, 9};
  CHECK(split_stages(p, 2).links.p2p == std::vector<brim::ticks>{4, 9, 9, 4, 9});
  p.links.p2p = {};
  CHECK(split_stages(p, 2).links.p2p.empty());
  brim::check_profile(split_stages(odd_profile(), 2), brim::looped({.devices = 2, .chunks = 2}));
}

TEST_CASE("on a V the links lead back the way they came") {
  profile p;
  p.stages.resize(3);
  p.links.p2p = {4, 9};
  const brim::placement v = brim::zig_zag({.devices = 3, .chunks = 2});
  const profile cut = split_stages(p, v);
  CHECK(cut.stages.size() == 6);
  REQUIRE(cut.links.p2p.size() == 5);
  CHECK(cut.links.p2p[0] == 4);
  CHECK(cut.links.p2p[1] == 9);  // 2 is the turn, on one device
  CHECK(cut.links.p2p[3] == 9);
  CHECK(cut.links.p2p[4] == 4);
  p.links.p2p = {7};  // one time for all
  CHECK(split_stages(p, v).links.p2p == std::vector<brim::ticks>{7});
}

TEST_CASE("one chunk changes nothing; less than one and far too many are refused") {
  CHECK(split_stages(odd_profile(), 1) == odd_profile());
#if BRIM_HAS_EXCEPTIONS
  using brim::error_code;
  using test_support::error_of;
  using test_support::says;
  CHECK(
      says(error_of([] { static_cast<void>(split_stages(odd_profile(), 0)); }), error_code::bad_shape, "chunks is 0"));
  CHECK(says(error_of([] { static_cast<void>(split_stages(odd_profile(), 1 << 30)); }), error_code::bad_profile,
             "more than 2^16 stages"));
  CHECK(says(error_of([] { static_cast<void>(split_stages(odd_profile(), brim::looped({.devices = 3}))); }),
             error_code::bad_shape, "do not become 3"));
#endif
}
