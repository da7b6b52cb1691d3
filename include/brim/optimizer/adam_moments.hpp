// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/config.hpp>
#include <brim/optimizer/tensor.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace brim {

/// Whether moments that started at zero are divided by what they have seen so far, 1 − beta^step.
enum class bias_correction : std::uint8_t { on, off };

namespace detail {

/// What Adam and LAMB share: two moments and the direction made of them,
/// m ← beta1 · m + (1 − beta1) g;  v ← beta2 · v + (1 − beta2) g²;  direction = m̂ / (√v̂ + epsilon),
/// where m̂ and v̂ are m and v after bias correction. Source: Kingma and Ba, arXiv 1412.6980, algorithm 1.
struct adam_numbers {
  double shrink = 1;
  double factor = 1;
  double rate = 1;  ///< the update is this times m / (spread · √v + epsilon): learning rate and bias correction
  double spread = 1;
};

struct adam_moments {
  double beta1;
  double beta2;
  double epsilon;

  /// The numbers whose update is the direction itself. Pre: 0 ≤ beta < 1, epsilon ≥ 0, step ≥ 1.
  [[nodiscard]] adam_numbers direction(std::int64_t step, double factor, bias_correction correction) const {
    BRIM_EXPECT(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1 && epsilon >= 0 && step >= 1);
    adam_numbers n{.factor = factor};
    if (correction == bias_correction::off) return n;
    n.rate = 1 / (1 - std::pow(beta1, static_cast<double>(step)));
    n.spread = 1 / std::sqrt(1 - std::pow(beta2, static_cast<double>(step)));
    return n;
  }

  template <scalar Scalar>
  void update(const adam_numbers& n, const gradient_view<Scalar, 2>& block, std::span<Scalar> out) const {
    const coefficients<Scalar> c(*this, n.factor);
    const Scalar rate = static_cast<Scalar>(n.rate);
    const Scalar spread = static_cast<Scalar>(n.spread);
    const Scalar floor = static_cast<Scalar>(epsilon);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Scalar g = block.gradient[i] * c.factor;
      const Scalar first = c.first(block.moments[0][i], g);
      const Scalar second = c.second(block.moments[1][i], g);
      out[i] = rate * first / (std::sqrt(second) * spread + floor);
    }
  }

  template <scalar Scalar>
  void advance(const adam_numbers& n, std::span<const Scalar> gradient, const moment_spans<Scalar, 2>& moments) const {
    const coefficients<Scalar> c(*this, n.factor);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const Scalar g = gradient[i] * c.factor;
      moments[0][i] = c.first(moments[0][i], g);
      moments[1][i] = c.second(moments[1][i], g);
    }
  }

 private:
  template <scalar Scalar>
  struct coefficients {
    Scalar factor, old1, new1, old2, new2;

    coefficients(const adam_moments& a, double scale)
        : factor(static_cast<Scalar>(scale)),
          old1(static_cast<Scalar>(a.beta1)),
          new1(static_cast<Scalar>(1 - a.beta1)),
          old2(static_cast<Scalar>(a.beta2)),
          new2(static_cast<Scalar>(1 - a.beta2)) {}

    [[nodiscard]] Scalar first(Scalar m, Scalar g) const { return old1 * m + new1 * g; }
    [[nodiscard]] Scalar second(Scalar v, Scalar g) const { return old2 * v + new2 * g * g; }
  };
};

}  // namespace detail
}  // namespace brim
