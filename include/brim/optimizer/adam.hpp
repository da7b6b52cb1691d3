// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/optimizer/adam_moments.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace brim::optimizers {

/// Adam: p ← p − learning_rate · m̂ / (√v̂ + epsilon). Source: Kingma and Ba, arXiv 1412.6980, algorithm 1.
/// Two moments: 8 bytes a parameter for float. For L2 regularisation add it to the gradient; for decay there is `adamw`.
struct adam {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;  ///< added to the root, after bias correction
  bias_correction correction = bias_correction::on;

  static constexpr std::size_t moment_count = 2;
  using numbers = detail::adam_numbers;

  template <scalar Scalar>
  [[nodiscard]] numbers prepare(std::int64_t step, double factor, std::span<const Scalar> /*parameters*/,
                                const gradient_view<Scalar, 2>& /*all*/) const {
    numbers n = moments().direction(step, factor, correction);
    n.rate *= learning_rate;
    return n;
  }

  template <scalar Scalar>
  void update(const numbers& n, const gradient_view<Scalar, 2>& block, std::span<Scalar> out) const {
    moments().update(n, block, out);
  }

  template <scalar Scalar>
  void advance(const numbers& n, std::span<const Scalar> gradient, const moment_spans<Scalar, 2>& both) const {
    moments().advance(n, gradient, both);
  }

 private:
  [[nodiscard]] detail::adam_moments moments() const { return {beta1, beta2, epsilon}; }
};

/// Adam with decoupled weight decay: p ← (1 − learning_rate · weight_decay) p − learning_rate · m̂ / (√v̂ + epsilon).
/// Source: Loshchilov and Hutter, arXiv 1711.05101, algorithm 2 with a constant schedule. Two moments.
struct adamw {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  bias_correction correction = bias_correction::on;

  static constexpr std::size_t moment_count = 2;
  using numbers = detail::adam_numbers;

  template <scalar Scalar>
  [[nodiscard]] numbers prepare(std::int64_t step, double factor, std::span<const Scalar> /*parameters*/,
                                const gradient_view<Scalar, 2>& /*all*/) const {
    BRIM_EXPECT(weight_decay >= 0);
    numbers n = moments().direction(step, factor, correction);
    n.rate *= learning_rate;
    n.shrink = 1 - learning_rate * weight_decay;
    return n;
  }

  template <scalar Scalar>
  void update(const numbers& n, const gradient_view<Scalar, 2>& block, std::span<Scalar> out) const {
    moments().update(n, block, out);
  }

  template <scalar Scalar>
  void advance(const numbers& n, std::span<const Scalar> gradient, const moment_spans<Scalar, 2>& both) const {
    moments().advance(n, gradient, both);
  }

 private:
  [[nodiscard]] detail::adam_moments moments() const { return {beta1, beta2, epsilon}; }
};

}  // namespace brim::optimizers
