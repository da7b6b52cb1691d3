// SPDX-License-Identifier: Apache-2.0
// Orders, timelines, bounds and memory: actions a second.
#include "support/targets.hpp"

#include <brim/brim.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include <benchmark/benchmark.h>

namespace {

constexpr bench::target no_goal{"actions"};
constexpr bench::target fast{"actions", 50};
constexpr brim::uniform_cost costs{.forward = 29'244, .backward = 49'350, .transfer_time = 626};
constexpr brim::pipeline_shape large{.devices = 64, .microbatches = 512};
constexpr brim::pipeline_shape large_chunks{.devices = 64, .microbatches = 512, .chunks = 2};

double actions_of(const brim::order& order) { return static_cast<double>(order.actions.size()); }

template <class Scheme>
void generate(benchmark::State& state, brim::pipeline_shape shape) {
  brim::order order = make_order(Scheme{}, shape);
  bench::run_against(state, actions_of(order), no_goal, [&] {
    make_order_into(order, Scheme{}, shape);
    benchmark::DoNotOptimize(order.actions.data());
  });
}

/// In the arrays of the timeline before, as a caller does who compares shapes or costs.
template <class Scheme>
void generate_and_simulate(benchmark::State& state, brim::pipeline_shape shape, bench::target goal) {
  brim::timeline t = simulate(Scheme{}, shape, costs);
  bench::run_against(state, actions_of(t.program), goal, [&] {
    simulate_into(t, Scheme{}, shape, costs);
    benchmark::DoNotOptimize(t.times.data());
  });
}

/// A timeline of its own each time: the operating system's page faults included.
template <class Scheme>
void generate_and_simulate_fresh(benchmark::State& state, brim::pipeline_shape shape, bench::target goal) {
  const brim::order order = make_order(Scheme{}, shape);
  bench::run_against(state, actions_of(order), goal, [&] {
    const brim::timeline t = simulate(Scheme{}, shape, costs);
    benchmark::DoNotOptimize(t.times.data());
  });
}

template <class Scheme>
void add(brim::pipeline_shape shape, bench::target goal) {
  const std::string name(Scheme::name);
  benchmark::RegisterBenchmark(("generate/" + name).c_str(), generate<Scheme>, shape);
  benchmark::RegisterBenchmark(("generate_and_simulate/" + name).c_str(), generate_and_simulate<Scheme>, shape, goal);
  benchmark::RegisterBenchmark(("generate_and_simulate_fresh/" + name).c_str(), generate_and_simulate_fresh<Scheme>,
                               shape, goal);
}

[[maybe_unused]] const bool added = [] {
  add<brim::schemes::gpipe>(large, fast);
  add<brim::schemes::one_f_one_b>(large, fast);
  add<brim::schemes::interleaved_one_f_one_b>(large_chunks, no_goal);
  add<brim::schemes::looped_bfs>(large_chunks, no_goal);
  add<brim::schemes::chimera>(large, no_goal);
  return true;
}();

/// From 10^4 to 10^7 actions on 64 devices: the time of one action should stay within a factor of 2.
template <class Scheme>
void sweep(benchmark::State& state) {
  static std::map<std::int64_t, double> fastest;  // nanoseconds an action, by size
  const brim::pipeline_shape shape{.devices = 64, .microbatches = static_cast<std::int32_t>(state.range(0) / 128)};
  brim::timeline t = simulate(Scheme{}, shape, costs);
  const double actions = actions_of(t.program);
  const double best = bench::run_against(state, actions, no_goal, [&] {
    simulate_into(t, Scheme{}, shape, costs);
    benchmark::DoNotOptimize(t.times.data());
  });
  const auto [entry, first] = fastest.try_emplace(state.range(0), 1e9 * best / actions);
  entry->second = std::min(entry->second, 1e9 * best / actions);
  double least = entry->second;
  double most = entry->second;
  for (const auto& [size, each] : fastest) {
    least = std::min(least, each);
    most = std::max(most, each);
  }
  char line[120];
  std::snprintf(line, sizeof line, "best %.1f ns an action; so far within a factor of %.2f, goal 2: %s", entry->second,
                most / least, most / least <= 2 ? "met" : "MISSED");
  state.SetLabel(line);
}
BENCHMARK(sweep<brim::schemes::gpipe>)->Name("sweep/gpipe")->RangeMultiplier(10)->Range(10'000, 10'000'000);
BENCHMARK(sweep<brim::schemes::one_f_one_b>)->Name("sweep/one_f_one_b")->RangeMultiplier(10)->Range(10'000, 10'000'000);

void makespan_bound(benchmark::State& state) {
  const brim::timeline t = simulate(brim::schemes::one_f_one_b{}, large, costs);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(brim::makespan_bound(t, costs));
}
BENCHMARK(makespan_bound);

void peak_memory(benchmark::State& state) {
  const brim::timeline t = simulate(brim::schemes::one_f_one_b{}, large, costs);
  const brim::uniform_memory memory{.activation = 1 << 20};
  bench::run_against(state, actions_of(t.program), no_goal,
                     [&] { benchmark::DoNotOptimize(brim::peak_memory(t, memory)); });
}
BENCHMARK(peak_memory);

/// Bytes that a timeline keeps, by the capacity of its arrays.
void timeline_size(benchmark::State& state) {
  const brim::timeline t = simulate(brim::schemes::one_f_one_b{}, large, costs);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(t.times.data());
  const std::size_t bytes =
      t.program.actions.capacity() * sizeof(brim::action) + t.times.capacity() * sizeof(brim::interval) +
      t.program.offsets.capacity() * sizeof(std::size_t) +
      t.program.where.holders.capacity() * sizeof(brim::device_index) + t.transfers.capacity() * sizeof(brim::ticks);
  const double each = static_cast<double>(bytes) / actions_of(t.program);
  state.counters["bytes/action"] = each;
  state.SetLabel(each <= 64 ? "goal at most 64: met" : "goal at most 64: MISSED");
}
BENCHMARK(timeline_size)->Iterations(1);

}  // namespace
