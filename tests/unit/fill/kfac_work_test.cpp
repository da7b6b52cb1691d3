// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace {

using namespace fill_samples;
using brim::action_kind;
using brim::ticks;
using brim::work_batch;

brim::work_set work_of(const brim::kfac_work& source, const brim::timeline& pipeline, ticks longest = 0,
                       ticks panel = 0, ticks chunk = 0) {
  const auto lanes = static_cast<std::size_t>(source.replicas * pipeline.program.shape.devices);
  const std::vector<ticks> longest_bubble(lanes, longest);
  const std::vector<ticks> panels(lanes, panel);
  const std::vector<ticks> chunks(lanes, chunk);
  return source.work(pipeline, {longest_bubble, panels, chunks});
}

ticks refresh_and_precondition(const brim::work_set& set, std::int32_t lane) {
  ticks sum = 0;
  for (const work_batch& b : set.batches)
    if (b.lane == lane && b.what.kind == action_kind::refresh) sum += b.duration * b.pieces;
  for (const brim::tail_work& t : set.tail)
    if (t.lane == lane && t.what.kind == action_kind::precondition) sum += t.duration;
  return sum;
}

}  // namespace

TEST_CASE("statistics are released by their own microbatch on their own route") {
  const brim::timeline pipeline = twin_pipeline();
  const brim::work_set set = work_of(twin_work(), pipeline);
  CHECK(set.units.size() == 8);  // 4 stages, 2 layers
  for (const work_batch& b : set.batches) {
    if (b.what.kind != action_kind::statistic) continue;
    REQUIRE(b.release_count == 2);  // half of the microbatches
    CHECK(b.pieces == 2);
    for (std::uint32_t r = b.first_release; r < b.first_release + b.release_count; ++r) {
      CHECK(pipeline.program.where.route_of(set.releases[r].microbatch) == b.what.route);
      CHECK(pipeline.program.where.device_of(b.what.route, b.what.stage).value == b.lane);
      for (std::size_t i = 0; i < pipeline.times.size(); ++i) {
        const brim::action& a = pipeline.program.actions[i];
        if (a.stage != b.what.stage || a.microbatch != set.releases[r].microbatch) continue;
        if (a.kind == (b.what.side == brim::side::a ? action_kind::forward : action_kind::backward))
          CHECK(set.releases[r].at == pipeline.times[i].end);
        if (a.kind == action_kind::backward) CHECK(set.releases[r].kept_from == pipeline.times[i].end);
      }
    }
  }
}

TEST_CASE("owners share the work as equally as whole layers allow") {
  brim::profile p = profile_of(
      {layer("a", 1, 100, 10), layer("b", 1, 60, 5), layer("c", 1, 50, 5), layer("d", 1, 30, 5), layer("e", 1, 20, 5)});
  for (const std::int32_t replicas : {1, 2, 3}) {
    CAPTURE(replicas);
    const brim::kfac_work source{.profile = p, .replicas = replicas};
    const brim::timeline pipeline = brim::simulate(brim::schemes::chimera{}, {.devices = 4, .microbatches = 4}, p);
    const brim::work_set set = work_of(source, pipeline);
    std::vector<ticks> loads;
    for (std::int32_t lane = 0; lane < 4 * replicas; ++lane) loads.push_back(refresh_and_precondition(set, lane));
    const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
    CHECK(*most - *least <= 210);  // the longest layer
    ticks all = 0;
    for (const ticks load : loads) all += load;
    CHECK(all == 4 * (2 * (100 + 60 + 50 + 30 + 20) + 30));
  }
}

TEST_CASE("what is cut is cut in equal pieces that add up") {
  const brim::kfac_work source{profile_of({layer("x", 100, 1'000)})};
  const brim::timeline pipeline =
      brim::simulate(brim::schemes::gpipe{}, {.devices = 2, .microbatches = 3}, source.profile);
  for (const work_batch& b : work_of(source, pipeline, 30, 300).batches) {
    if (b.what.kind == action_kind::statistic) {
      CHECK(b.division == 4);
      CHECK(b.duration == 25);
      CHECK(b.pieces == 12);
      CHECK(b.signals == 0);
    } else {
      CHECK(b.pieces == 4);
      CHECK(b.duration == 250);
      CHECK(b.waits == 0);
    }
  }
}

TEST_CASE("statistics are cut finer than they must be where that is wanted") {
  const brim::kfac_work source{profile_of({layer("x", 100, 1'000)})};
  const brim::timeline pipeline =
      brim::simulate(brim::schemes::gpipe{}, {.devices = 2, .microbatches = 3}, source.profile);
  for (const work_batch& b : work_of(source, pipeline, 300, 0, 20).batches) {
    CHECK(b.duration == (b.what.kind == action_kind::statistic ? 20 : 1'000));
    CHECK(b.division == (b.what.kind == action_kind::statistic ? 5 : 1));
  }
}

TEST_CASE("the damping decides what an inversion waits for") {
  brim::kfac_work source{profile_of({layer("x", 10, 20)})};
  const brim::timeline pipeline =
      brim::simulate(brim::schemes::gpipe{}, {.devices = 2, .microbatches = 1}, source.profile);
  CHECK(work_of(source, pipeline).units.front().gates == 1);
  source.damping = brim::damping_split::independent;
  const brim::work_set set = work_of(source, pipeline);
  CHECK(set.units.front().gates == 2);
  for (const work_batch& b : set.batches)
    CHECK((b.what.kind == action_kind::statistic ? b.signals : b.waits) == (b.what.side == brim::side::a ? 0 : 1));
}

TEST_CASE("a sum over holders delays the refresh, where there are several") {
  brim::kfac_work source = twin_work();
  for (const work_batch& b : work_of(source, twin_pipeline()).batches)
    CHECK(b.delay == (b.what.kind == action_kind::refresh ? 7 : 0));
  const brim::timeline alone =
      brim::simulate(brim::schemes::gpipe{}, {.devices = 2, .microbatches = 1}, source.profile);
  for (const work_batch& b : work_of(source, alone).batches) CHECK(b.delay == 0);
}

TEST_CASE("a step ends with sums, preconditioning by the owners, shared results, updates") {
  const brim::work_set set = work_of(twin_work(), twin_pipeline());
  for (std::int32_t lane = 0; lane < 4; ++lane) {
    std::vector<int> phases;
    for (const brim::tail_work& t : set.tail) {
      if (t.lane != lane) continue;
      const bool of_layer = t.what.layer.value >= 0;
      phases.push_back(t.what.kind == action_kind::sync_gradient  ? (of_layer ? 2 : 0)
                       : t.what.kind == action_kind::precondition ? 1
                                                                  : 3);
    }
    CHECK(std::is_sorted(phases.begin(), phases.end()));
    CHECK(std::count(phases.begin(), phases.end(), 0) == 2);  // both stages of the device
    CHECK(std::count(phases.begin(), phases.end(), 3) == 2);
    CHECK(std::count(phases.begin(), phases.end(), 2) == 4);  // every layer of both
  }
}

TEST_CASE("a slow device takes longer for everything") {
  brim::kfac_work source{profile_of({layer("x", 10, 20, 4)})};
  source.profile.devices = {{.speed = 1}, {.speed = 0.5}};
  const brim::timeline pipeline =
      brim::simulate(brim::schemes::gpipe{}, {.devices = 2, .microbatches = 1}, source.profile);
  const brim::work_set set = work_of(source, pipeline);
  for (const work_batch& b : set.batches)
    CHECK(b.duration == (b.what.kind == action_kind::statistic ? 10 : 20) * (b.lane == 1 ? 2 : 1));
  for (const brim::tail_work& t : set.tail)
    CHECK(t.duration == (t.what.kind == action_kind::optimizer_step ? 0 : t.lane == 1 ? 8 : 4));
}
