// SPDX-License-Identifier: Apache-2.0
// Plans: lowering, verifying, writing and reading, in instructions a second.
#include "support/profiles.hpp"
#include "support/targets.hpp"

#include <brim/brim.hpp>
#include <brim/io/read_plan_json.hpp>
#include <brim/io/write_plan_json.hpp>
#include <brim/plan/lower.hpp>
#include <brim/plan/verify.hpp>

#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>

namespace {

constexpr bench::target no_goal{"instructions"};
constexpr bench::target fast{"instructions", 10};
constexpr brim::uniform_cost costs{.forward = 29'244, .backward = 49'350, .transfer_time = 626};
constexpr brim::pipeline_shape large{.devices = 64, .microbatches = 512};

double instructions_of(const brim::plan& p) { return static_cast<double>(p.instructions.size()); }

template <class Scheme>
brim::timeline pipeline() {
  return simulate(Scheme{}, large, costs);
}

brim::filled bert_large() {
  const brim::profile profile = bench::published_profile("bert-large-p100-head");
  return fill(simulate(brim::schemes::chimera{}, {.devices = 8, .microbatches = 8}, profile),
              brim::kfac_work{.profile = profile});
}

template <class Scheme>
void lower(benchmark::State& state) {
  const brim::timeline t = pipeline<Scheme>();
  bench::run_against(state, instructions_of(brim::lower(t)), no_goal,
                     [&] { benchmark::DoNotOptimize(brim::lower(t)); });
}
BENCHMARK(lower<brim::schemes::gpipe>)->Name("lower/gpipe")->Unit(benchmark::kMillisecond);
BENCHMARK(lower<brim::schemes::one_f_one_b>)->Name("lower/one_f_one_b")->Unit(benchmark::kMillisecond);
BENCHMARK(lower<brim::schemes::chimera>)->Name("lower/chimera")->Unit(benchmark::kMillisecond);

template <class Scheme, brim::transport Transport>
void verify(benchmark::State& state) {
  const brim::plan p = brim::lower(pipeline<Scheme>(), {.transport = Transport});
  bench::run_against(state, instructions_of(p), fast, [&] { brim::verify(p); });
}
using brim::transport;
using brim::schemes::chimera, brim::schemes::gpipe, brim::schemes::one_f_one_b;
BENCHMARK_TEMPLATE(verify, gpipe, transport::one_queue)->Name("verify/gpipe/one_queue")->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(verify, one_f_one_b, transport::one_queue)
    ->Name("verify/one_f_one_b/one_queue")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(verify, one_f_one_b, transport::buffered)
    ->Name("verify/one_f_one_b/buffered")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(verify, chimera, transport::one_queue)
    ->Name("verify/chimera/one_queue")
    ->Unit(benchmark::kMillisecond);

void lower_filled(benchmark::State& state) {
  const brim::filled filled = bert_large();
  bench::run_against(state, instructions_of(brim::lower(filled)), no_goal,
                     [&] { benchmark::DoNotOptimize(brim::lower(filled)); });
}
BENCHMARK(lower_filled)->Name("lower/bert_large_filled")->Unit(benchmark::kMillisecond);

void verify_filled(benchmark::State& state) {
  const brim::plan p = brim::lower(bert_large());
  bench::run_against(state, instructions_of(p), no_goal, [&] { brim::verify(p); });
}
BENCHMARK(verify_filled)->Name("verify/bert_large_filled")->Unit(benchmark::kMillisecond);

void write_json(benchmark::State& state) {
  const brim::plan p = brim::lower(bert_large());
  std::string text;
  bench::run_against(state, instructions_of(p), no_goal, [&] { text = brim::io::plan_json(p); });
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(write_json)->Name("write_json/bert_large_filled")->Unit(benchmark::kMillisecond);

void read_json(benchmark::State& state) {
  const brim::plan p = brim::lower(bert_large());
  const std::string text = brim::io::plan_json(p);
  bench::run_against(state, instructions_of(p), no_goal,
                     [&] { benchmark::DoNotOptimize(brim::io::parse_plan_json(text)); });
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_json)->Name("read_json/bert_large_filled")->Unit(benchmark::kMillisecond);

}  // namespace
