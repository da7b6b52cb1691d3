// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>
#include <brim/optimizer/adam.hpp>
#include <brim/optimizer/lamb.hpp>
#include <brim/optimizer/no_undo.hpp>
#include <brim/optimizer/sgd.hpp>
#include <brim/optimizer/step.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

/// What the tests of the optimizers share: every optimizer with every option, tensors of awkward numbers, comparison of bits.
namespace test_support {

template <class Scalar>
bool same_bits(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Scalar)) == 0);
}

template <class State>
bool same_state(const State& a, const State& b) {
  for (std::size_t i = 0; i < a.moments.size(); ++i)
    if (!same_bits(a.moments[i], b.moments[i])) return false;
  return a.steps == b.steps && a.phase == b.phase;
}

/// Calls `visit(name, optimizer)` for every optimizer and option.
template <class Visit>
void for_each_optimizer(Visit visit) {
  using namespace brim::optimizers;
  constexpr double none = std::numeric_limits<double>::infinity();
  visit("sgd", sgd{});
  visit("sgd without momentum", sgd{.learning_rate = 0.1, .momentum = 0});
  visit("sgd, decay", sgd{.learning_rate = 0.1, .weight_decay = 0.05});
  visit("sgd, nesterov, decay", sgd{.momentum = 0.99, .weight_decay = 0.3, .form = brim::momentum_form::nesterov});
  visit("adam", adam{});
  visit("adam, not corrected", adam{.learning_rate = 0.01, .beta1 = 0, .correction = brim::bias_correction::off});
  visit("adamw", adamw{});
  visit("adamw, all decays", adamw{.learning_rate = 0.5, .weight_decay = 2});  // shrink is 0
  visit("adamw, not corrected",
        adamw{.learning_rate = 0.3, .epsilon = 0, .weight_decay = 1, .correction = brim::bias_correction::off});
  visit("lamb", lamb{});
  visit("lamb, not corrected, no decay", lamb{.weight_decay = 0, .correction = brim::bias_correction::off});
  visit("lamb, clamped", lamb{.learning_rate = 0.1, .weight_decay = 0.1, .least_norm = 1, .greatest_norm = 2});
  visit("lamb, no clamp", lamb{.learning_rate = 0.1, .greatest_norm = none});
}

/// Weights as after initialization, or gradients: normal with this deviation.
template <class Scalar>
std::vector<Scalar> mild(std::mt19937& random, std::size_t size, double deviation) {
  std::normal_distribution<double> normal(0, deviation);
  std::vector<Scalar> values(size);
  for (Scalar& value : values) value = static_cast<Scalar>(normal(random));
  return values;
}

/// Zeros of both signs, denormal, tiny, usual, huge and greatest values of both signs.
template <class Scalar>
std::vector<Scalar> wild(std::mt19937& random, std::size_t size) {
  using limits = std::numeric_limits<Scalar>;
  std::normal_distribution<double> normal(0, 1);
  std::vector<Scalar> values(size);
  for (Scalar& value : values) {
    const Scalar usual = static_cast<Scalar>(normal(random));
    switch (random() % 10) {
      case 0: value = 0; break;
      case 1: value = -Scalar{0}; break;
      case 2: value = limits::denorm_min() * (1 + usual * usual * 100); break;
      case 3: value = -limits::min() * usual; break;
      case 4: value = limits::max() / 4 * usual / (1 + usual * usual); break;
      case 5: value = usual < 0 ? limits::lowest() : limits::max(); break;
      case 6: value = usual * static_cast<Scalar>(1e-12); break;
      default: value = usual; break;
    }
  }
  return values;
}

/// A tensor with all that belongs to it.
template <class Optimizer, class Scalar>
struct tensor {
  std::vector<Scalar> parameters;
  std::vector<Scalar> gradient;
  brim::optimizer_state<Optimizer, Scalar> state;

  friend bool operator==(const tensor& a, const tensor& b) {
    return same_bits(a.parameters, b.parameters) && same_state(a.state, b.state);
  }
};

template <class Scalar, class Optimizer>
tensor<Optimizer, Scalar> make_tensor(const Optimizer& optimizer, std::vector<Scalar> parameters) {
  const std::size_t size = parameters.size();
  return {std::move(parameters), std::vector<Scalar>(size), brim::make_state<Scalar>(optimizer, size)};
}

/// Steps with these gradients, scaled by these factors; gives the parameters after each step.
template <class Optimizer>
std::vector<std::vector<double>> path(const Optimizer& optimizer, tensor<Optimizer, double>& t,
                                      const std::vector<std::vector<double>>& gradients,
                                      const std::vector<double>& factors) {
  std::vector<std::vector<double>> points;
  brim::no_undo<double> none;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    step(optimizer, t.state, none, t.parameters, gradients[i], {.factor = factors[i]});
    keep(optimizer, t.state, gradients[i]);
    points.push_back(t.parameters);
  }
  return points;
}

inline bool close(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-14 * (1 + std::abs(b[i])))) return false;
  return true;
}

/// The three steps that the numbers of the tests were computed for.
inline const std::vector<double> start{1, -2, 0.5};
inline const std::vector<std::vector<double>> gradients{{0.5, -1, 0.25}, {-0.125, 2, 0}, {1, 0.75, -3}};
inline const std::vector<double> factors{1, 0.5, 0.25};

}  // namespace test_support
