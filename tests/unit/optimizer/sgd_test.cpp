// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/optimizer/sgd.hpp>

using namespace test_support;

// b = mu b + f g;  p = p - lr wd p - lr (b or f g + mu b), evaluated in Python; the first steps are easy by hand:
// 1 - 0.1 · 0.5 = 0.95, and with decay 1 - 0.1 · 0.2 · 1 - 0.05 = 0.93.

TEST_CASE("sgd: three steps with momentum") {
  const brim::optimizers::sgd o{.learning_rate = 0.1};
  auto t = make_tensor(o, start);
  const auto points = path(o, t, gradients, factors);
  CHECK(close(points[0], {0.95, -1.9, 0.475}));
  CHECK(close(points[1], {0.91125, -1.91, 0.4525}));
  CHECK(close(points[2], {0.851375, -1.93775, 0.50725}));
  CHECK(close(t.state.moments[0], {0.59875, 0.2775, -0.5475}));
  CHECK(t.state.steps == 3);
}

TEST_CASE("sgd: decay is decoupled from the momentum") {
  const brim::optimizers::sgd o{.learning_rate = 0.1, .weight_decay = 0.2};
  auto t = make_tensor(o, start);
  const auto points = path(o, t, gradients, factors);
  CHECK(close(points[0], {0.93, -1.86, 0.465}));
  CHECK(close(points[1], {0.87265, -1.8328, 0.4332}));
  CHECK(close(points[2], {0.795322, -1.823894, 0.479286}));
  CHECK(close(t.state.moments[0], {0.59875, 0.2775, -0.5475}));
}

TEST_CASE("sgd: Nesterov's momentum looks ahead") {
  const brim::optimizers::sgd o{.learning_rate = 0.1, .weight_decay = 0.2, .form = brim::momentum_form::nesterov};
  auto t = make_tensor(o, start);
  const auto points = path(o, t, gradients, factors);
  CHECK(close(points[0], {0.885, -1.77, 0.4425}));
  CHECK(close(points[1], {0.838675, -1.8436, 0.4134}));
  CHECK(close(points[2], {0.743014, -1.850453, 0.529407}));
}

TEST_CASE("the comparisons of these tests can fail") {
  CHECK_FALSE(close({1.0}, {1.0 + 1e-12}));
  CHECK_FALSE(close({std::nan("")}, {1.0}));
  CHECK_FALSE(close({1.0}, {}));
  CHECK_FALSE(same_bits<float>({0.0F}, {-0.0F}));
  CHECK_FALSE(same_bits<float>({0.0F}, {}));
  const brim::optimizers::sgd o;
  const auto a = make_tensor(o, start);
  auto b = a;
  CHECK(a == b);
  b.state.steps = 1;
  CHECK_FALSE(a == b);
  b = a;
  b.state.moments[0][2] = -0.0;
  CHECK_FALSE(a == b);
}
