// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/config.hpp>
#include <brim/optimizer/norm_chain.hpp>

#include <algorithm>
#include <limits>

namespace brim {

/// Clipping by the global norm: gradients are multiplied by min(1, max_norm / (norm + epsilon)).
struct clipping {
  double max_norm =
      std::numeric_limits<double>::infinity();  ///< in units of the gradient, above 0; infinite: no clipping
  double epsilon = 1e-6;                        ///< keeps the factor below 1 where the norm is just above
};

/// What a step does to the gradient before it uses it.
struct grad_scale {
  double factor = 1;     ///< multiplies every element; 0 where the step is skipped
  bool skipped = false;  ///< after an overflow nothing changes: no parameter, no moment, no count of steps

  friend constexpr bool operator==(const grad_scale&, const grad_scale&) = default;
};

/// What follows from a state of the chain, partial or complete.
/// Pre: `max_norm` is above 0, `epsilon` not negative.
[[nodiscard]] inline grad_scale scale_of(const norm_chain& chain, const clipping& clip = {}) {
  BRIM_EXPECT(clip.max_norm > 0 && clip.epsilon >= 0);
  if (chain.overflow) return {.factor = 0, .skipped = true};
  return {.factor = std::min(1.0, clip.max_norm / (chain.norm() + clip.epsilon))};
}

/// Whether a step that was made with the partial state has to be undone and made again now that the complete state is known:
/// only where it would be skipped otherwise, or use another factor. Factors are compared as `Scalar`, the precision in which
/// the step uses them; double is on the safe side for both. Never true without clipping and overflow.
template <scalar Scalar = double>
[[nodiscard]] bool needs_redo(const norm_chain& partial, const norm_chain& complete, const clipping& clip = {}) {
  const grad_scale had = scale_of(partial, clip);
  const grad_scale wanted = scale_of(complete, clip);
  return had.skipped != wanted.skipped || static_cast<Scalar>(had.factor) != static_cast<Scalar>(wanted.factor);
}

}  // namespace brim
