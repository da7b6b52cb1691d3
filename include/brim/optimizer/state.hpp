// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/optimizer/concepts.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace brim {

/// Where a tensor stands between two steps.
enum class step_phase : std::uint8_t {
  settled,  ///< the last step is kept or undone; the next one may come
  stepped,  ///< the parameters have moved, the moments not yet
  skipped,  ///< a step was skipped: nothing has moved
};

/// The running state of one tensor. Moments and count change only when a step is kept, so undoing a step touches neither.
template <class Optimizer, scalar Scalar>
struct optimizer_state {
  static_assert(check_undoable_optimizer<Optimizer, Scalar>());

  std::array<std::vector<Scalar>, Optimizer::moment_count> moments;
  std::int64_t steps = 0;  ///< that were kept; skipped ones do not count
  step_phase phase = step_phase::settled;
  typename Optimizer::numbers numbers{};  ///< of the step that is not settled

  /// The moments to read, beside the gradient that a step uses. Pre: all have the length of `gradient`.
  [[nodiscard]] gradient_view<Scalar, Optimizer::moment_count> view(std::span<const Scalar> gradient) const {
    gradient_view<Scalar, Optimizer::moment_count> all{.gradient = gradient, .moments = {}};
    for (std::size_t i = 0; i < moments.size(); ++i) all.moments[i] = moments[i];
    return all;
  }
};

/// The state before the first step: all moments zero. Allocates `moment_count` × `parameters` scalars; nothing after it does.
template <scalar Scalar, class Optimizer>
[[nodiscard]] optimizer_state<Optimizer, Scalar> make_state(const Optimizer& /*which*/, std::size_t parameters) {
  optimizer_state<Optimizer, Scalar> state;
  for (std::vector<Scalar>& moment : state.moments) moment.assign(parameters, Scalar{0});
  return state;
}

}  // namespace brim
