// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/optimizer/adam_moments.hpp>
#include <brim/optimizer/norm_chain.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace brim::optimizers {

/// LAMB: Adam's direction with weight decay, d = m̂ / (√v̂ + epsilon) + weight_decay · p, whose length is that of the tensor:
/// p ← p − learning_rate · trust · d, trust = clamp(‖p‖, least_norm, greatest_norm) / ‖d‖, or 1 where either norm is 0.
/// Norms are of the whole tensor and summed in double. Source: You et al., arXiv 1904.00962, algorithm 2.
/// Two moments: 8 bytes a parameter for float. One step computes the direction twice, first for its norm.
struct lamb {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0.01;
  double least_norm = 0;
  double greatest_norm = 10;  ///< infinite: no clamp
  bias_correction correction = bias_correction::on;

  static constexpr std::size_t moment_count = 2;
  using numbers = detail::adam_numbers;

  template <scalar Scalar>
  [[nodiscard]] numbers prepare(std::int64_t step, double factor, std::span<const Scalar> parameters,
                                const gradient_view<Scalar, 2>& all) const {
    BRIM_EXPECT(weight_decay >= 0 && least_norm >= 0 && least_norm <= greatest_norm);
    numbers n = moments().direction(step, factor, correction);
    const double rate = learning_rate * trust_ratio<Scalar>(n, parameters, all);
    n.rate *= rate;
    n.shrink = 1 - rate * weight_decay;
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

  template <scalar Scalar>
  [[nodiscard]] double trust_ratio(const numbers& n, std::span<const Scalar> parameters,
                                   const gradient_view<Scalar, 2>& all) const {
    std::array<Scalar, detail::block_size> buffer{};
    detail::square_sum of_parameters;
    detail::square_sum of_directions;
    const Scalar decay = static_cast<Scalar>(weight_decay);
    for (std::size_t first = 0; first < all.size(); first += detail::block_size) {
      const std::size_t count = std::min(detail::block_size, all.size() - first);
      const std::span<const Scalar> here = parameters.subspan(first, count);
      const std::span<Scalar> direction = std::span(buffer).first(count);
      moments().update(n, all.block(first, count), direction);
      for (std::size_t i = 0; i < count; ++i) direction[i] += decay * here[i];
      of_parameters.add(here);
      of_directions.add(std::span<const Scalar>(direction));
    }
    const double parameter_norm = std::clamp(std::sqrt(of_parameters.total()), least_norm, greatest_norm);
    const double direction_norm = std::sqrt(of_directions.total());
    return parameter_norm > 0 && direction_norm > 0 ? parameter_norm / direction_norm : 1;
  }
};

}  // namespace brim::optimizers
