// SPDX-License-Identifier: Apache-2.0
// Steps of an optimizer that can be taken back: parameters a second.
#include "support/targets.hpp"

#include <brim/optimizer/adam.hpp>
#include <brim/optimizer/kept_parameters.hpp>
#include <brim/optimizer/kept_residues.hpp>
#include <brim/optimizer/lamb.hpp>
#include <brim/optimizer/no_undo.hpp>
#include <brim/optimizer/norm_chain.hpp>
#include <brim/optimizer/sgd.hpp>
#include <brim/optimizer/step.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

constexpr bench::target no_goal{"parameters"};
constexpr std::int64_t in_cache = 1 << 14;
constexpr std::int64_t in_memory = 1 << 22;

template <class Optimizer, class Scalar>
struct tensor {
  Optimizer optimizer;
  std::vector<Scalar> parameters;
  std::vector<Scalar> gradient;
  brim::optimizer_state<Optimizer, Scalar> state;

  explicit tensor(std::int64_t size)
      : parameters(static_cast<std::size_t>(size)),
        gradient(parameters.size()),
        state(brim::make_state<Scalar>(optimizer, parameters.size())) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal(0, 0.02);
    for (Scalar& value : parameters) value = static_cast<Scalar>(normal(random));
    for (Scalar& value : gradient) value = static_cast<Scalar>(normal(random));
  }
  template <class Log>
  void step(Log& log) {
    brim::step(optimizer, state, log, parameters, gradient, {.factor = 0.5});
  }
  template <class Log>
  void undo(Log& log) {
    brim::undo(optimizer, state, log, parameters, gradient);
  }
  void keep() { brim::keep(optimizer, state, gradient); }
};

template <class Log>
Log log_for(std::size_t parameters) {
  if constexpr (std::is_constructible_v<Log, std::size_t>)
    return Log(parameters);
  else
    return Log();
}

/// A step and what makes it final: what an iteration pays where nothing is undone.
template <class Optimizer, class Scalar, class Log>
void step_and_keep(benchmark::State& state) {
  tensor<Optimizer, Scalar> t(state.range(0));
  Log log = log_for<Log>(t.parameters.size());
  bench::run_against(state, static_cast<double>(state.range(0)), no_goal, [&] {
    t.step(log);
    t.keep();
    benchmark::DoNotOptimize(t.parameters.data());
  });
}

/// An undo; the step before it is not timed.
template <class Optimizer, class Scalar, class Log>
void undo(benchmark::State& state) {
  tensor<Optimizer, Scalar> t(state.range(0));
  Log log = log_for<Log>(t.parameters.size());
  double best = 1e9;
  for ([[maybe_unused]] auto _ : state) {
    t.step(log);
    const double seconds = bench::seconds([&] {
      t.undo(log);
      benchmark::DoNotOptimize(t.parameters.data());
    });
    state.SetIterationTime(seconds);
    best = std::min(best, seconds);
  }
  state.SetLabel(bench::verdict(static_cast<double>(state.range(0)), best, no_goal));
}

/// What everybody would write first: one pass over everything, after a copy of all that it changes.
template <class Scalar>
struct copied_adamw {
  tensor<brim::optimizers::adamw, Scalar> t;
  std::vector<Scalar> parameters = t.parameters;
  std::vector<Scalar> first = t.parameters;
  std::vector<Scalar> second = t.parameters;

  void step() {
    constexpr auto b1 = static_cast<Scalar>(0.9);
    constexpr auto b2 = static_cast<Scalar>(0.999);
    constexpr auto rate = static_cast<Scalar>(1e-3);
    constexpr auto epsilon = static_cast<Scalar>(1e-8);
    Scalar* const m = t.state.moments[0].data();
    Scalar* const v = t.state.moments[1].data();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i] = t.parameters[i];
      first[i] = m[i];
      second[i] = v[i];
      const Scalar g = t.gradient[i] / 2;
      m[i] = b1 * m[i] + (1 - b1) * g;
      v[i] = b2 * v[i] + (1 - b2) * g * g;
      t.parameters[i] = t.parameters[i] * (1 - rate / 100) - rate * m[i] / (std::sqrt(v[i]) + epsilon);
    }
  }
  void undo() {
    std::copy(parameters.begin(), parameters.end(), t.parameters.begin());
    std::copy(first.begin(), first.end(), t.state.moments[0].begin());
    std::copy(second.begin(), second.end(), t.state.moments[1].begin());
  }
};

template <class Scalar>
void step_copied(benchmark::State& state) {
  copied_adamw<Scalar> copied{tensor<brim::optimizers::adamw, Scalar>(state.range(0))};
  bench::run_against(state, static_cast<double>(state.range(0)), no_goal, [&] {
    copied.step();
    benchmark::DoNotOptimize(copied.t.parameters.data());
  });
}

template <class Scalar>
void undo_copied(benchmark::State& state) {
  copied_adamw<Scalar> copied{tensor<brim::optimizers::adamw, Scalar>(state.range(0))};
  bench::run_against(state, static_cast<double>(state.range(0)), no_goal, [&] {
    copied.undo();
    benchmark::DoNotOptimize(copied.t.parameters.data());
  });
}
BENCHMARK(step_copied<float>)->Name("step_and_keep/copies_of_all/adamw/float")->Arg(in_cache)->Arg(in_memory);
BENCHMARK(undo_copied<float>)->Name("undo/copies_of_all/adamw/float")->Arg(in_cache)->Arg(in_memory);

template <class Scalar>
void norm(benchmark::State& state) {
  const std::vector<Scalar> gradient(static_cast<std::size_t>(state.range(0)), Scalar{1});
  bench::run_against(state, static_cast<double>(state.range(0)), no_goal,
                     [&] { benchmark::DoNotOptimize(brim::norm_of(std::span<const Scalar>(gradient))); });
}

template <class Optimizer, class Scalar>
void add(const std::string& name) {
  using brim::kept_parameters;
  using brim::kept_residues;
  const auto with = [](benchmark::internal::Benchmark* b) { return b->Arg(in_cache)->Arg(in_memory); };
  const auto named = [&](const char* what) { return what + ("/" + name); };
  with(benchmark::RegisterBenchmark(named("step_and_keep/no_undo").c_str(),
                                    step_and_keep<Optimizer, Scalar, brim::no_undo<Scalar>>));
  with(benchmark::RegisterBenchmark(named("step_and_keep/kept_parameters").c_str(),
                                    step_and_keep<Optimizer, Scalar, kept_parameters<Scalar>>));
  with(benchmark::RegisterBenchmark(named("step_and_keep/kept_residues").c_str(),
                                    step_and_keep<Optimizer, Scalar, kept_residues<Scalar>>));
  with(benchmark::RegisterBenchmark(named("undo/kept_parameters").c_str(),
                                    undo<Optimizer, Scalar, kept_parameters<Scalar>>))
      ->UseManualTime();
  with(
      benchmark::RegisterBenchmark(named("undo/kept_residues").c_str(), undo<Optimizer, Scalar, kept_residues<Scalar>>))
      ->UseManualTime();
}

[[maybe_unused]] const bool added = [] {
  add<brim::optimizers::sgd, float>("sgd/float");
  add<brim::optimizers::adamw, float>("adamw/float");
  add<brim::optimizers::lamb, float>("lamb/float");
  add<brim::optimizers::adamw, double>("adamw/double");
  return true;
}();

BENCHMARK(norm<float>)->Name("norm_of/float")->Arg(in_cache)->Arg(in_memory);
BENCHMARK(norm<double>)->Name("norm_of/double")->Arg(in_cache)->Arg(in_memory);

}  // namespace
