// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/optimizer/lamb.hpp>

using namespace test_support;

// d = m̂ / (√v̂ + eps) + wd p;  p = p - lr clamp(‖p‖, least, greatest) / ‖d‖ d, moments as for Adam, evaluated in Python.

TEST_CASE("lamb: three steps") {
  const brim::optimizers::lamb o{.learning_rate = 0.01};
  auto t = make_tensor(o, start);
  const auto points = path(o, t, gradients, factors);
  CHECK(close(points[0], {0.98679328380492, -1.986662510903759, 0.48685868986933706}));
  CHECK(close(points[1], {0.9719664397875075, -1.98749664436465, 0.4696764039922437}));
  CHECK(close(points[2], {0.9530204769388546, -1.9903644052081173, 0.48169190227871694}));
  CHECK(close(t.state.moments[0], {0.059875, 0.02775, -0.05475}));
  CHECK(close(t.state.moments[1], {0.00031590259375, 0.00203215725, 0.0006248750625}));
}

TEST_CASE("lamb: the clamp of the norm, above and below") {
  const brim::optimizers::lamb above{.learning_rate = 0.01, .greatest_norm = 1.5};
  auto t = make_tensor(above, start);
  CHECK(close(path(above, t, gradients, factors)[2], {0.968994566249334, -1.9937197742489907, 0.4880149689146812}));
  const brim::optimizers::lamb below{.learning_rate = 0.01, .least_norm = 4};
  t = make_tensor(above, start);
  CHECK(close(path(below, t, gradients, factors)[2], {0.9173318702497226, -1.9832665884367109, 0.4680574348781309}));
}

TEST_CASE("lamb without bias correction") {
  const brim::optimizers::lamb o{.learning_rate = 0.01, .weight_decay = 0.1, .correction = brim::bias_correction::off};
  auto t = make_tensor(o, start);
  CHECK(close(path(o, t, gradients, factors)[2], {0.952764575097565, -1.9888858454696554, 0.481776267996677}));
}

TEST_CASE("lamb: where a norm is zero the ratio is 1") {
  const brim::optimizers::lamb o{.learning_rate = 0.5, .epsilon = 0, .weight_decay = 0};
  auto zero = make_tensor(o, std::vector<double>{0, 0});
  CHECK(close(path(o, zero, {{1, -3}}, {1})[0], {-0.5, 0.5}));  // the direction of the first step is the sign
  const brim::optimizers::lamb decays{.learning_rate = 0.5, .weight_decay = 0};
  auto still = make_tensor(decays, start);
  CHECK(path(decays, still, {{0, 0, 0}}, {1})[0] == start);
}

TEST_CASE("lamb: norms are those of the whole tensor, not of its blocks") {
  const brim::optimizers::lamb o{.learning_rate = 0.01, .weight_decay = 0, .greatest_norm = 100};
  const std::size_t size = 1000;  // all directions are 1 but for epsilon: ‖p‖ / ‖d‖ = 2
  auto t = make_tensor(o, std::vector<double>(size, 2.0));
  const std::vector<double> after = path(o, t, {std::vector<double>(size, 1e6)}, {1})[0];
  for (const double p : after) CHECK(p == doctest::Approx(2 - 0.01 * 2).epsilon(1e-10));
}
