// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/optimizer/kept_residues.hpp>

#include <bit>
#include <cstdint>

using namespace test_support;
using brim::step_outcome;

TEST_CASE("ordinary weights need next to no whole values") {
  std::mt19937 random(8);
  constexpr std::size_t size = 100'000;
  const brim::optimizers::adamw optimizer;
  auto t = make_tensor(optimizer, mild<float>(random, size, 0.02));
  t.gradient = mild<float>(random, size, 1e-3);
  brim::kept_residues<float> log(size);
  const auto before = t;
  REQUIRE(step(optimizer, t.state, log, t.parameters, t.gradient, {}) == step_outcome::stepped);
  MESSAGE(log.spilled() << " of " << size << " parameters were kept whole");
  CHECK(log.spilled() > 0);  // |p| < 1e-3 / 250 or so
  CHECK(log.spilled() < size / 500);
  undo(optimizer, t.state, log, t.parameters, t.gradient);
  CHECK(t == before);
}

TEST_CASE("a parameter that starts at zero leaves a residue, a negative zero is kept whole") {
  const brim::optimizers::sgd optimizer{.learning_rate = 1};
  auto t = make_tensor(optimizer, std::vector<float>{0, 0, -0.0F, -0.0F});
  t.gradient = {0, 1, 0, 1};
  brim::kept_residues<float> log(4, 4);
  const auto before = t;
  step(optimizer, t.state, log, t.parameters, t.gradient, {});
  CHECK(log.spilled() == 2);
  undo(optimizer, t.state, log, t.parameters, t.gradient);
  CHECK(t == before);
}

TEST_CASE_TEMPLATE("without room the step is postponed and nothing has moved", Scalar, float, double) {
  std::mt19937 random(9);
  constexpr std::size_t size = 2000;
  for_each_optimizer([&](const char* name, const auto& optimizer) {
    CAPTURE(name);
    auto t = make_tensor(optimizer, mild<Scalar>(random, size, 0.02));
    t.gradient = mild<Scalar>(random, size, 1e-3);
    for (std::size_t i = 1500; i < size; ++i) {  // gone in the update
      t.parameters[i] = static_cast<Scalar>(1e-30);
      t.gradient[i] = 1;
    }
    const auto before = t;
    for (const std::size_t room : {0u, 30u, 250u, 499u}) {
      brim::kept_residues<Scalar> log(size, room);
      REQUIRE(step(optimizer, t.state, log, t.parameters, t.gradient, {}) == step_outcome::postponed);
      CHECK(t == before);
      CHECK(t.state.phase == brim::step_phase::settled);
    }
    brim::kept_residues<Scalar> log(size, size);
    REQUIRE(step(optimizer, t.state, log, t.parameters, t.gradient, {}) == step_outcome::stepped);
    CHECK(log.spilled() >= 500);
    undo(optimizer, t.state, log, t.parameters, t.gradient);
    CHECK(t == before);
  });
}

TEST_CASE("the ends of a byte: 127 units fit, 128 do not") {
  for (const int units : {126, 127, 128, -126, -127, -128, -129}) {
    const float guess = 1.5F;
    const float before = std::bit_cast<float>(std::bit_cast<std::uint32_t>(guess) + static_cast<std::uint32_t>(units));
    const std::vector<float> old{before};
    std::vector<float> now{1.0F};
    const std::vector<float> update{0.5F};
    brim::kept_residues<float> log(1, 1);
    CHECK(log.record(0, old, now, update, 1.0F));
    CHECK(log.spilled() == (units >= -127 && units <= 127 ? 0 : 1));
    log.restore(0, now, update, 1.0F);
    CHECK(same_bits(now, old));
  }
}

TEST_CASE("an estimate that is not a number is not trusted, however close its bits are") {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> old{none};
  std::vector<float> now{none};
  const std::vector<float> update{1.0F};
  brim::kept_residues<float> log(1, 1);
  CHECK(log.record(0, old, now, update, 1.0F));
  CHECK(log.spilled() == 1);
  log.restore(0, now, update, 1.0F);
  CHECK(same_bits(now, old));
}
