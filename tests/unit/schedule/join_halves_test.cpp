// SPDX-License-Identifier: Apache-2.0
#include "data.hpp"

#include <doctest/doctest.h>
#include <brim/schedule/join_halves.hpp>
#include <brim/schedule/metrics.hpp>

#include <algorithm>

namespace {

using brim::action;
using brim::action_kind;
using brim::timeline;

std::ptrdiff_t count_of(const timeline& t, action_kind kind) {
  return std::count_if(t.program.actions.begin(), t.program.actions.end(),
                       [&](const action& a) { return a.kind == kind; });
}

}  // namespace

TEST_CASE("the first stage of ZB-H1 needs no halves, the others hold theirs apart") {
  const brim::uniform_cost costs{};
  const timeline joined = brim::join_halves(
      brim::simulate(brim::schemes::zero_bubble_h1{}, {.devices = 4, .microbatches = 8}, costs), costs);
  CHECK(brim::makespan(joined) == 27);
  CHECK(joined.view().row(brim::device_index(0)).size() == 16);
  CHECK(joined.view().row(brim::device_index(1)).size() == 24);
}

TEST_CASE("a pair that somebody waits for stays apart") {
  const brim::uniform_cost costs{};
  const timeline apart = brim::simulate(brim::schemes::grouped_interleave{.group = 2},
                                        {.devices = 2, .microbatches = 4, .chunks = 2}, costs);
  const timeline joined = brim::join_halves(apart, costs);
  CHECK(brim::makespan(joined) == brim::makespan(apart));
  CHECK(count_of(joined, action_kind::backward) > 0);
  CHECK(count_of(joined, action_kind::backward_input) > 0);
  CHECK(count_of(joined, action_kind::backward) + count_of(joined, action_kind::backward_input) == 16);
}

TEST_CASE("a whole backward that takes longer than its halves is not used") {
  const brim::uniform_cost costs{.backward = 3, .backward_input = 1, .backward_weight = 1};
  const timeline apart = brim::simulate(brim::schemes::zero_bubble_h1{}, {.devices = 2, .microbatches = 4}, costs);
  CHECK(brim::join_halves(apart, costs) == apart);
}

TEST_CASE("joining delays no action, whatever the costs") {
  std::uint64_t random = 1;
  const auto draw = [&](brim::ticks below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<brim::ticks>((random >> 33) % static_cast<std::uint64_t>(below));
  };
  std::ptrdiff_t joined_pairs = 0;
  for (int n = 0; n < 300; ++n) {
    const brim::pipeline_shape shape{.devices = 2 + n % 4, .microbatches = 1 + n % 7, .chunks = 1 + n % 3};
    brim::stage_costs costs;
    for (int s = 0; s < shape.devices * shape.chunks; ++s) {
      const brim::ticks input = draw(9);
      const brim::ticks weight = draw(9);
      costs.stages.push_back({.forward = draw(9),
                              .backward = std::max<brim::ticks>(0, input + weight - draw(2)),
                              .backward_input = input,
                              .backward_weight = weight});
      if (s > 0) costs.transfers.push_back(draw(4));
    }
    const timeline apart = brim::simulate(brim::schemes::grouped_interleave{}, shape, costs);
    const timeline joined = brim::join_halves(apart, costs);
    joined_pairs += count_of(joined, action_kind::backward);
    for (const brim::device_index d : brim::devices(shape)) {
      std::size_t i = 0;  // in `apart`
      for (std::size_t j = 0; j < joined.view().size_of(d); ++j, ++i) {
        CHECK(joined.view().times_of(d)[j].start <= apart.view().times_of(d)[i].start);
        if (joined.view().row(d)[j].kind == action_kind::backward) ++i;
      }
      CHECK(i == apart.view().size_of(d));
    }
  }
  CHECK(joined_pairs > 300);
}
