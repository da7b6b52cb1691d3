// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/config.hpp>
#include <brim/optimizer/tensor.hpp>

#include <cstddef>
#include <span>

namespace brim {

/// An undo log for steps with the complete state, which nobody takes back. Keeps nothing; undoing such a step is a mistake in
/// the calling code.
template <scalar Scalar>
class no_undo {
 public:
  static constexpr bool needs_updates = false;

  bool record(std::size_t /*first*/, std::span<const Scalar> /*before*/, std::span<const Scalar> /*after*/,
              std::span<const Scalar> /*updates*/, Scalar /*shrink*/) const {
    return true;
  }

  void restore(std::size_t /*first*/, std::span<Scalar> /*parameters*/, std::span<const Scalar> /*updates*/,
               Scalar /*shrink*/) const {
    constexpr bool can_be_undone = false;
    BRIM_EXPECT(can_be_undone);
  }
};

}  // namespace brim
