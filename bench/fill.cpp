// SPDX-License-Identifier: Apache-2.0
// Placing pieces in bubbles: pieces a second, alone, in the search for a table, and step by step.
#include "support/one_lane_work.hpp"
#include "support/profiles.hpp"
#include "support/targets.hpp"

#include <brim/brim.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

constexpr bench::target no_goal{"items"};
constexpr bench::target fast{"items", 10};

/// One step of one device: `range(0)` pieces, in batches of `range(1)` pieces of one duration.
template <class Policy>
void place(benchmark::State& state) {
  const auto pieces = static_cast<std::int32_t>(state.range(0));
  const bench::one_lane_work source{.pieces = pieces, .batches = pieces / static_cast<std::int32_t>(state.range(1))};
  const brim::ticks action = brim::ticks{pieces} * 200'000;
  const brim::timeline t = simulate(brim::schemes::gpipe{}, {.devices = 4, .microbatches = 10},
                                    brim::uniform_cost{.forward = action, .backward = action});
  const Policy policy{};
  const brim::fill_options options;
  const auto prepared = brim::detail::prepare_fill(t, source, options);
  brim::detail::filler<Policy> run(prepared.work, prepared.bubbles, prepared.groups[0], policy,
                                   options.margin_permille);
  std::vector<std::int32_t> all(static_cast<std::size_t>(source.batches));
  std::iota(all.begin(), all.end(), 0);
  run.placed().reserve(static_cast<std::size_t>(pieces) + 1);
  run.run_step(all);
  if (run.placed().size() != static_cast<std::size_t>(pieces)) {
    state.SkipWithError("not every piece was placed in one step");
    return;
  }
  bench::run_against(state, pieces, pieces <= 100'000 ? fast : no_goal, [&] {
    run.placed().clear();
    run.run_step(all);
    benchmark::DoNotOptimize(run.placed().data());
  });
}
void few_or_many_durations(benchmark::internal::Benchmark* b) {
  b->ArgNames({"items", "items_of_one_duration"});
  for (std::int64_t items = 1000; items <= 1'000'000; items *= 10)
    for (const std::int64_t alike : {items / 20, std::int64_t{10}, std::int64_t{1}}) b->Args({items, alike});
}
BENCHMARK(place<brim::fills::oldest_longest>)->Name("place/oldest_longest")->Apply(few_or_many_durations);
BENCHMARK(place<brim::fills::pipefisher_rule>)->Name("place/pipefisher_rule")->Args({100'000, 10});

struct bert_large {
  brim::profile costs = bench::published_profile("bert-large-p100-head");
  brim::timeline pipeline = simulate(brim::schemes::chimera{}, {.devices = 8, .microbatches = 8}, costs);
  brim::kfac_work work{.profile = costs};
};

/// From the timeline to the best table: entries of the result a second, though many more are placed while searching.
template <class Policy>
void whole_fill(benchmark::State& state) {
  const bert_large job;
  const brim::filled once = fill(job.pipeline, job.work, Policy{});
  bench::run_against(state, static_cast<double>(once.work.size()), no_goal,
                     [&] { benchmark::DoNotOptimize(fill(job.pipeline, job.work, Policy{})); });
  state.counters["steps"] = once.cycle_length;
}
BENCHMARK(whole_fill<brim::fills::oldest_longest>)
    ->Name("fill/bert_large_chimera/oldest_longest")
    ->Unit(benchmark::kMillisecond);
BENCHMARK(whole_fill<brim::fills::pipefisher_rule>)
    ->Name("fill/bert_large_chimera/pipefisher_rule")
    ->Unit(benchmark::kMillisecond);

/// What a trainer pays each step for planning while it trains, over all devices.
void stream_next(benchmark::State& state) {
  const bert_large job;
  brim::fill_stream stream(job.pipeline, job.work);
  constexpr int warm_up = 40;
  constexpr int measured = 100;
  for (int i = 0; i < warm_up; ++i) stream.next();
  std::size_t pieces = 0;
  for (int i = 0; i < measured; ++i) pieces += stream.next().size();
  bench::run_against(state, static_cast<double>(pieces) / measured, no_goal,
                     [&] { benchmark::DoNotOptimize(stream.next().data()); });
}
BENCHMARK(stream_next)->Name("stream_next/bert_large_chimera")->Unit(benchmark::kMicrosecond);

}  // namespace
