// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/optimizer/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace brim {

/// An undo log that copies the parameters before they change: 4 bytes a parameter for float, 8 for double, whatever the
/// optimizer. Never out of room, and exact under any compiler options.
template <scalar Scalar>
class kept_parameters {
 public:
  static constexpr bool needs_updates = false;

  explicit kept_parameters(std::size_t parameters) : before_(parameters) {}

  bool record(std::size_t first, std::span<const Scalar> before, std::span<const Scalar> /*after*/,
              std::span<const Scalar> /*updates*/, Scalar /*shrink*/) {
    const std::span<Scalar> room = std::span(before_).subspan(first, before.size());
    std::copy(before.begin(), before.end(), room.begin());
    return true;
  }

  void restore(std::size_t first, std::span<Scalar> parameters, std::span<const Scalar> /*updates*/,
               Scalar /*shrink*/) const {
    const std::span<const Scalar> kept = std::span(before_).subspan(first, parameters.size());
    std::copy(kept.begin(), kept.end(), parameters.begin());
  }

 private:
  std::vector<Scalar> before_;
};

}  // namespace brim
