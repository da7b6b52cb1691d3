// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/optimizer/kept_parameters.hpp>
#include <brim/optimizer/kept_residues.hpp>
#include <brim/optimizer/step.hpp>

#include <cmath>

using namespace test_support;
using brim::step_outcome;
using brim::step_phase;

namespace {

/// One tensor, stepped with a wrong scale, taken back, stepped with the right one; beside it one that had only the right one.
template <class Optimizer, class Scalar, class Log>
void check_step(const char* name, const Optimizer& optimizer, tensor<Optimizer, Scalar>& t, Log& log,
                const brim::grad_scale& wrong, const brim::grad_scale& right) {
  CAPTURE(name);
  CAPTURE(sizeof(Scalar));
  tensor<Optimizer, Scalar> straight = t;
  const tensor<Optimizer, Scalar> before = t;
  brim::no_undo<Scalar> none;

  const step_outcome outcome = step(optimizer, t.state, log, t.parameters, t.gradient, wrong);
  CHECK(outcome == (wrong.skipped ? step_outcome::skipped : step_outcome::stepped));
  undo(optimizer, t.state, log, t.parameters, t.gradient);
  REQUIRE(t == before);

  // again with the log, as a stage does whose partial state was the complete one
  step(optimizer, t.state, log, t.parameters, t.gradient, right);
  keep(optimizer, t.state, t.gradient);
  step(optimizer, straight.state, none, straight.parameters, straight.gradient, right);
  keep(optimizer, straight.state, straight.gradient);
  REQUIRE(t == straight);
  CHECK(t.state.steps == before.state.steps + (right.skipped ? 0 : 1));
}

template <class Scalar, class Log>
void check_wild(Log log, std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  MESSAGE("seed " << seed);
  for_each_optimizer([&](const char* name, const auto& optimizer) {
    for (int round = 0; round < 20; ++round) {
      auto t = make_tensor(optimizer, wild<Scalar>(random, size));
      if (round % 5 == 0) {  // also what training has spoilt comes back as it was
        t.parameters[random() % size] = std::numeric_limits<Scalar>::infinity();
        t.parameters[random() % size] = -std::numeric_limits<Scalar>::quiet_NaN();
      }
      t.gradient = wild<Scalar>(random, size);
      for (std::vector<Scalar>& moment : t.state.moments) moment = wild<Scalar>(random, size);
      if (t.state.moments.size() == 2)
        for (Scalar& square : t.state.moments[1]) square = std::abs(square);
      t.state.steps = static_cast<std::int64_t>(random() % 1000);
      const double factor = std::ldexp(1.0 + 0.1 * round, -static_cast<int>(random() % 30));
      check_step(name, optimizer, t, log, {.factor = 1}, {.factor = factor});
    }
  });
}

/// Many steps of ordinary training; some gradients overflow and are skipped, some were stepped before that was known.
template <class Scalar, class Log>
void check_training(Log log, std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  MESSAGE("seed " << seed);
  constexpr Scalar infinite = std::numeric_limits<Scalar>::infinity();
  for_each_optimizer([&](const char* name, const auto& optimizer) {
    auto t = make_tensor(optimizer, mild<Scalar>(random, size, 0.02));
    for (int round = 0; round < 100; ++round) {
      t.gradient = mild<Scalar>(random, size, 1e-3);
      const bool overflow = random() % 8 == 0;
      if (overflow) t.gradient[random() % size] = random() % 2 == 0 ? infinite : infinite - infinite;
      const brim::grad_scale known{.factor = overflow ? 0 : 0.37, .skipped = overflow};
      const brim::grad_scale guessed{.factor = 1, .skipped = random() % 8 == 0};
      check_step(name, optimizer, t, log, guessed, known);
    }
    for (const Scalar p : t.parameters) REQUIRE(p - p == 0);
  });
}

}  // namespace

TEST_CASE_TEMPLATE("undo gives back every bit, whatever the numbers", Scalar, float, double) {
  constexpr std::size_t size = 613;  // blocks that are full and one that is not
  check_wild<Scalar>(brim::kept_parameters<Scalar>(size), size, 1);
  check_wild<Scalar>(brim::kept_residues<Scalar>(size, size), size, 2);
}

TEST_CASE_TEMPLATE("undo gives back every bit, step after step", Scalar, float, double) {
  constexpr std::size_t size = 613;
  check_training<Scalar>(brim::kept_parameters<Scalar>(size), size, 3);
  check_training<Scalar>(brim::kept_residues<Scalar>(size, size), size, 4);
}

TEST_CASE("tensors of any length, also none") {
  std::mt19937 random(5);
  const brim::optimizers::lamb optimizer;
  for (const std::size_t size : {0u, 1u, 7u, 255u, 256u, 257u, 512u}) {
    auto t = make_tensor(optimizer, mild<float>(random, size, 1));
    t.gradient = mild<float>(random, size, 1);
    brim::kept_residues<float> log(size, size);
    check_step("lamb", optimizer, t, log, {.factor = 1}, {.factor = 0.5});
  }
}

TEST_CASE("the phases of a step, and that moments wait for keep") {
  const brim::optimizers::adam optimizer;
  auto t = make_tensor(optimizer, std::vector<float>{1, 2});
  t.gradient = {3, 4};
  brim::kept_parameters<float> log(2);
  const auto before = t;

  CHECK(step(optimizer, t.state, log, t.parameters, t.gradient, {}) == step_outcome::stepped);
  CHECK(t.state.phase == step_phase::stepped);
  CHECK(t.parameters[0] < 1);
  CHECK(same_bits(t.state.moments[0], before.state.moments[0]));
  CHECK(t.state.steps == 0);
  keep(optimizer, t.state, t.gradient);
  CHECK(t.state.phase == step_phase::settled);
  CHECK(t.state.moments[0][0] == doctest::Approx(0.3));
  CHECK(t.state.steps == 1);

  const auto after = t;
  CHECK(step(optimizer, t.state, log, t.parameters, t.gradient, {.factor = 0, .skipped = true}) ==
        step_outcome::skipped);
  CHECK(t.state.phase == step_phase::skipped);
  keep(optimizer, t.state, t.gradient);
  CHECK(t == after);
}

// Why there is a log at all: m = (m' - (1 - b1) g) / b1, v = (v' - (1 - b2) g²) / b2, p = p' + update.
TEST_CASE("inverting the formulas does not give the bits back") {
  std::mt19937 random(6);
  constexpr std::size_t size = 10'000;
  const brim::optimizers::adam optimizer;
  auto t = make_tensor(optimizer, mild<float>(random, size, 0.02));
  brim::no_undo<float> none;
  for (int i = 0; i < 3; ++i) {
    t.gradient = mild<float>(random, size, 1e-3);
    step(optimizer, t.state, none, t.parameters, t.gradient, {});
    keep(optimizer, t.state, t.gradient);
  }
  const auto before = t;
  t.gradient = mild<float>(random, size, 1e-3);
  std::vector<float> update(size);
  const auto numbers = optimizer.prepare<float>(4, 1, t.parameters, t.state.view(t.gradient));
  optimizer.update<float>(numbers, t.state.view(t.gradient), update);
  step(optimizer, t.state, none, t.parameters, t.gradient, {});
  keep(optimizer, t.state, t.gradient);

  std::size_t first = 0;
  std::size_t second = 0;
  std::size_t parameter = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const float g = t.gradient[i];
    first += (t.state.moments[0][i] - 0.1F * g) / 0.9F != before.state.moments[0][i] ? 1u : 0u;
    second += (t.state.moments[1][i] - 0.001F * g * g) / 0.999F != before.state.moments[1][i] ? 1u : 0u;
    parameter += t.parameters[i] + update[i] != before.parameters[i] ? 1u : 0u;
  }
  MESSAGE("of " << size << " elements differ: parameters " << parameter << ", first moments " << first
                << ", second moments " << second);
  CHECK(first > size / 100);
  CHECK(second > size / 100);
  CHECK(parameter > size / 100);
}
