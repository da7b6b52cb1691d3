// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>

namespace brim {

/// What parameters and moments are made of.
template <class T> concept scalar = std::same_as<T, float> || std::same_as<T, double>;

/// The moments of a tensor, one span each, as long as its parameters.
template <scalar Scalar, std::size_t Count>
using moment_spans = std::array<std::span<Scalar>, Count>;

/// What an update is computed from: the gradient of a tensor and its moments, or a block of both. The parameters are missing
/// on purpose: an update that does not depend on them can be computed again after they have changed.
template <scalar Scalar, std::size_t Count>
struct gradient_view {
  std::span<const Scalar> gradient;
  std::array<std::span<const Scalar>, Count> moments;

  [[nodiscard]] constexpr std::size_t size() const { return gradient.size(); }

  /// Elements `[first, first + count)`.
  [[nodiscard]] constexpr gradient_view block(std::size_t first, std::size_t count) const {
    gradient_view part{.gradient = gradient.subspan(first, count), .moments = {}};
    for (std::size_t i = 0; i < Count; ++i) part.moments[i] = moments[i].subspan(first, count);
    return part;
  }
};

namespace detail {

/// Tensors are worked through in blocks of so many elements: what passes between two loops stays in the first-level cache.
inline constexpr std::size_t block_size = 256;

}  // namespace detail
}  // namespace brim
