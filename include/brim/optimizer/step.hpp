// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Steps that can be taken back to the last bit. The order for one tensor: `step`, then `keep`, or `undo` and `step` again.
/// The gradient stays as it is until then. Source: Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 4.

#include <brim/core/config.hpp>
#include <brim/optimizer/compiled_once.hpp>
#include <brim/optimizer/concepts.hpp>
#include <brim/optimizer/grad_scale.hpp>
#include <brim/optimizer/state.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace brim {

/// What became of a step.
enum class step_outcome : std::uint8_t {
  stepped,    ///< the parameters have moved
  skipped,    ///< after an overflow: nothing has moved
  postponed,  ///< the log has no room for what undoing would take: nothing has moved, wait for the complete state
};

namespace detail {

template <scalar Scalar, class Work>
void for_each_block(std::size_t size, Work work) {
  for (std::size_t first = 0; first < size; first += block_size) {
    if (!work(first, std::min(block_size, size - first))) return;
  }
}

// None of the next three knows the log, so that all logs run the same instructions.

template <class Optimizer, scalar Scalar>
void prepare_step(const Optimizer& optimizer, optimizer_state<Optimizer, Scalar>& state,
                  std::span<const Scalar> parameters, std::span<const Scalar> gradient, double factor) {
  compiled_once([&] { state.numbers = optimizer.prepare(state.steps + 1, factor, parameters, state.view(gradient)); });
}

template <class Optimizer, scalar Scalar>
void compute_updates(const Optimizer& optimizer, const typename Optimizer::numbers& numbers,
                     const gradient_view<Scalar, Optimizer::moment_count>& block, std::span<Scalar> out) {
  compiled_once([&] { optimizer.update(numbers, block, out); });
}

template <scalar Scalar>
void apply_updates(std::span<const Scalar> before, std::span<const Scalar> updates, Scalar shrink,
                   std::span<Scalar> after) {
  compiled_once([&] {
    for (std::size_t i = 0; i < before.size(); ++i) after[i] = shrink * before[i] - updates[i];
  });
}

/// Puts the first `size` parameters back.
template <class Optimizer, class Log, scalar Scalar>
void restore(const Optimizer& optimizer, const optimizer_state<Optimizer, Scalar>& state, Log& log,
             std::span<std::type_identity_t<Scalar>> parameters, std::span<const std::type_identity_t<Scalar>> gradient,
             std::size_t size) {
  std::array<Scalar, block_size> buffer{};
  const gradient_view<Scalar, Optimizer::moment_count> all = state.view(gradient);
  for_each_block<Scalar>(size, [&](std::size_t first, std::size_t count) {
    const std::span<Scalar> updates = std::span(buffer).first(count);
    if constexpr (Log::needs_updates)
      compute_updates<Optimizer, Scalar>(optimizer, state.numbers, all.block(first, count), updates);
    log.restore(first, parameters.subspan(first, count), updates, static_cast<Scalar>(state.numbers.shrink));
    return true;
  });
}

}  // namespace detail

/// One step of one tensor, in place: parameters move, moments wait for `keep`. Where the step is `postponed` the tensor can be
/// stepped with a log that keeps nothing (`no_undo`) as soon as the complete state is known.
/// Pre: the state is settled; parameters, gradient, moments and log have the same length. No allocation. Linear.
template <class Optimizer, class Log, scalar Scalar>
step_outcome step(const Optimizer& optimizer, optimizer_state<Optimizer, Scalar>& state, Log& log,
                  std::span<std::type_identity_t<Scalar>> parameters,
                  std::span<const std::type_identity_t<Scalar>> gradient, const grad_scale& scale) {
  static_assert(check_undo_log<Log, Scalar>());
  BRIM_EXPECT(state.phase == step_phase::settled && gradient.size() == parameters.size());
  if (scale.skipped) {
    state.phase = step_phase::skipped;
    return step_outcome::skipped;
  }
  const gradient_view<Scalar, Optimizer::moment_count> all = state.view(gradient);
  detail::prepare_step<Optimizer, Scalar>(optimizer, state, parameters, gradient, scale.factor);
  const Scalar shrink = static_cast<Scalar>(state.numbers.shrink);
  std::array<Scalar, detail::block_size> update_buffer{};
  std::array<Scalar, detail::block_size> after_buffer{};
  std::size_t done = 0;
  detail::for_each_block<Scalar>(parameters.size(), [&](std::size_t first, std::size_t count) {
    const std::span<Scalar> updates = std::span(update_buffer).first(count);
    const std::span<Scalar> after = std::span(after_buffer).first(count);
    const std::span<Scalar> here = parameters.subspan(first, count);
    detail::compute_updates<Optimizer, Scalar>(optimizer, state.numbers, all.block(first, count), updates);
    detail::apply_updates<Scalar>(here, updates, shrink, after);
    if (!log.record(first, here, after, updates, shrink)) return false;
    std::copy(after.begin(), after.end(), here.begin());
    done = first + count;
    return true;
  });
  if (done == parameters.size()) {
    state.phase = step_phase::stepped;
    return step_outcome::stepped;
  }
  detail::restore(optimizer, state, log, parameters, gradient, done);
  state.numbers = {};
  return step_outcome::postponed;
}

/// Takes the last step back: parameters, moments and count of steps have the bits that they had before it.
/// Pre: the last `step` of this tensor was `stepped` or `skipped` and is not kept; the gradient and the optimizer are the same
/// as then, and so is the rounding mode. No allocation. Linear.
template <class Optimizer, class Log, scalar Scalar>
void undo(const Optimizer& optimizer, optimizer_state<Optimizer, Scalar>& state, Log& log,
          std::span<std::type_identity_t<Scalar>> parameters, std::span<const std::type_identity_t<Scalar>> gradient) {
  BRIM_EXPECT(state.phase != step_phase::settled && gradient.size() == parameters.size());
  if (state.phase == step_phase::stepped)
    detail::restore(optimizer, state, log, parameters, gradient, parameters.size());
  state.phase = step_phase::settled;
  state.numbers = {};
}

/// Makes the last step final: moments and count of steps follow. Afterwards the gradient may change.
/// Pre: as for `undo`. No allocation. Linear.
template <class Optimizer, scalar Scalar>
void keep(const Optimizer& optimizer, optimizer_state<Optimizer, Scalar>& state,
          std::span<const std::type_identity_t<Scalar>> gradient) {
  BRIM_EXPECT(state.phase != step_phase::settled);
  if (state.phase == step_phase::stepped) {
    moment_spans<Scalar, Optimizer::moment_count> moments;
    for (std::size_t i = 0; i < moments.size(); ++i) moments[i] = state.moments[i];
    detail::compiled_once([&] { optimizer.advance(state.numbers, gradient, moments); });
    ++state.steps;
  }
  state.phase = step_phase::settled;
  state.numbers = {};
}

}  // namespace brim
