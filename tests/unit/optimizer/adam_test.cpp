// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/optimizer/adam.hpp>

using namespace test_support;

// m = b1 m + (1 - b1) f g;  v = b2 v + (1 - b2) (f g)²;  p = p - lr wd p - lr m̂ / (√v̂ + eps), m̂ = m / (1 - b1^t),
// v̂ = v / (1 - b2^t), evaluated in Python. By hand: the first corrected step is lr · sign(g), less what eps takes.

TEST_CASE("adam: three steps") {
  const brim::optimizers::adam o{.learning_rate = 0.01};
  auto t = make_tensor(o, start);
  const auto points = path(o, t, gradients, factors);
  CHECK(close(points[0], {0.9900000002, -1.9900000001, 0.4900000004}));
  CHECK(close(points[1], {0.9842746546034399, -1.9905263158842106, 0.4832994182377716}));
  CHECK(close(points[2], {0.9774694204923635, -1.99176985221998, 0.4877238924731004}));
  CHECK(close(t.state.moments[0], {0.059875, 0.02775, -0.05475}));
  CHECK(close(t.state.moments[1], {0.00031590259375, 0.00203215725, 0.0006248750625}));
  CHECK(t.state.steps == 3);
}

TEST_CASE("adamw: decay is decoupled from the moments") {
  const brim::optimizers::adamw o{
      .learning_rate = 0.01, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .weight_decay = 0.1};
  auto t = make_tensor(o, start);
  const auto points = path(o, t, gradients, factors);
  CHECK(close(points[0], {0.9890199600798403, -1.98800999000999, 0.4895398406374502}));
  CHECK(close(points[1], {0.9827170599736028, -1.987131981129981, 0.4827190249865774}));
  CHECK(close(points[2], {0.9750923057457018, -1.986893418297898, 0.4874163233157699}));
  CHECK(close(t.state.moments[0], {0.104, 0.0695, -0.118}));
  CHECK(close(t.state.moments[1], {0.014591796875, 0.0943828125, 0.0309453125}));
}

TEST_CASE("adamw without bias correction") {
  const brim::optimizers::adamw o{.learning_rate = 0.01,
                                  .beta1 = 0.8,
                                  .beta2 = 0.95,
                                  .epsilon = 1e-3,
                                  .weight_decay = 0.1,
                                  .correction = brim::bias_correction::off};
  auto t = make_tensor(o, start);
  const auto points = path(o, t, gradients, factors);
  CHECK(close(points[0], {0.9901350188915121, -1.9890955500010008, 0.49071291622319224}));
  CHECK(close(points[1], {0.9830563964452652, -1.988383390214115, 0.48301320837218564}));
  CHECK(close(points[2], {0.973534507545777, -1.9886499053676803, 0.48920014789387867}));
}

TEST_CASE("adam is adamw without decay") {
  const brim::optimizers::adam a{.learning_rate = 0.02, .correction = brim::bias_correction::off};
  const brim::optimizers::adamw w{.learning_rate = 0.02, .weight_decay = 0, .correction = brim::bias_correction::off};
  auto by_adam = make_tensor(a, start);
  auto by_adamw = make_tensor(w, start);
  CHECK(path(a, by_adam, gradients, factors) == path(w, by_adamw, gradients, factors));
}
