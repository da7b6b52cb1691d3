// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/config.hpp>
#include <brim/optimizer/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace brim {

/// Where momentum takes the gradient.
enum class momentum_form : std::uint8_t {
  classic,   ///< the step is the momentum
  nesterov,  ///< the step is what the momentum will be if the same gradient comes again
};

namespace optimizers {

/// Stochastic gradient descent with momentum, without dampening. With g the scaled gradient:
/// b ← momentum · b + g;  p ← (1 − learning_rate · weight_decay) p − learning_rate · (b, or g + momentum · b for Nesterov).
/// Weight decay is decoupled (arXiv 1711.05101). For L2 regularisation add it to the gradient before the step.
/// One moment: 4 bytes a parameter for float.
struct sgd {
  double learning_rate = 0.01;
  double momentum = 0.9;
  double weight_decay = 0;
  momentum_form form = momentum_form::classic;

  static constexpr std::size_t moment_count = 1;

  struct numbers {
    double shrink = 1;
    double factor = 1;
    double of_gradient = 0;  ///< the update is this times the scaled gradient
    double of_moment = 0;    ///< plus this times the old momentum
  };

  template <scalar Scalar>
  [[nodiscard]] numbers prepare(std::int64_t /*step*/, double factor, std::span<const Scalar> /*parameters*/,
                                const gradient_view<Scalar, 1>& /*all*/) const {
    BRIM_EXPECT(momentum >= 0 && weight_decay >= 0);
    const bool ahead = form == momentum_form::nesterov;
    return {.shrink = 1 - learning_rate * weight_decay,
            .factor = factor,
            .of_gradient = learning_rate * (ahead ? 1 + momentum : 1.0),
            .of_moment = learning_rate * (ahead ? momentum * momentum : momentum)};
  }

  template <scalar Scalar>
  void update(const numbers& n, const gradient_view<Scalar, 1>& block, std::span<Scalar> out) const {
    const Scalar factor = static_cast<Scalar>(n.factor);
    const Scalar of_gradient = static_cast<Scalar>(n.of_gradient);
    const Scalar of_moment = static_cast<Scalar>(n.of_moment);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = of_gradient * (block.gradient[i] * factor) + of_moment * block.moments[0][i];
  }

  template <scalar Scalar>
  void advance(const numbers& n, std::span<const Scalar> gradient, const moment_spans<Scalar, 1>& moments) const {
    const Scalar factor = static_cast<Scalar>(n.factor);
    const Scalar rest = static_cast<Scalar>(momentum);
    for (std::size_t i = 0; i < gradient.size(); ++i) moments[0][i] = rest * moments[0][i] + gradient[i] * factor;
  }
};

}  // namespace optimizers
}  // namespace brim
