// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/optimizer/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace brim {

template <class O>
concept has_moment_count = requires {
  { O::moment_count } -> std::convertible_to<std::size_t>;
};

template <class O>
concept has_step_numbers = std::default_initializable<typename O::numbers> && std::copyable<typename O::numbers> &&
                           requires(const typename O::numbers& numbers) {
                             { numbers.shrink } -> std::convertible_to<double>;
                           };

template <class O, class Scalar>
concept prepares_steps = requires(const O& optimizer, std::int64_t step, double factor,
                                  std::span<const Scalar> parameters, const gradient_view<Scalar, O::moment_count>& v) {
  { optimizer.prepare(step, factor, parameters, v) } -> std::convertible_to<typename O::numbers>;
};

template <class O, class Scalar>
concept computes_updates =
    requires(const O& optimizer, const typename O::numbers& numbers, const gradient_view<Scalar, O::moment_count>& v,
             std::span<Scalar> out) { optimizer.update(numbers, v, out); };

template <class O, class Scalar>
concept advances_moments =
    requires(const O& optimizer, const typename O::numbers& numbers, std::span<const Scalar> gradient,
             const moment_spans<Scalar, O::moment_count>& moments) { optimizer.advance(numbers, gradient, moments); };

/// An optimizer whose step is parameter ← shrink · parameter − update, where the update depends on gradient and moments but
/// not on the parameter itself (a whole tensor's norm excepted): so it can be computed again to undo the step.
///
/// Requirements, for `const O o`, `N = O::moment_count`, a block `gradient_view<Scalar, N> v` and `O::numbers n`:
/// - `O::moment_count`: number of moments per parameter; `O::numbers`: the numbers of one step, with a field `shrink`.
/// - `o.prepare(std::int64_t step, double factor, std::span<const Scalar> parameters, v) -> numbers`, once a step with the whole
///   tensor; `step` counts from 1, `factor` multiplies the gradient.
/// - `o.update(n, v, std::span<Scalar> out)`: the update of each element of a block. Equal arguments, equal bits.
/// - `o.advance(n, std::span<const Scalar> gradient, moment_spans<Scalar, N>)`: the moments after the step, in place.
///
/// Not required: that the optimizer is an aggregate or can be copied, or that elements are independent in `prepare`.
/// Complexity: each element is asked for once a step, once for an undo. None of the three may allocate.
/// Models: `brim::optimizers`. Archetype: `tests/unit/optimizer/archetypes.hpp`.
template <class O, class Scalar>
concept undoable_optimizer = scalar<Scalar> && has_moment_count<O> && has_step_numbers<O> &&
                             prepares_steps<O, Scalar> && computes_updates<O, Scalar> && advances_moments<O, Scalar>;

template <class L>
concept says_if_it_needs_updates = requires {
  { L::needs_updates } -> std::convertible_to<bool>;
};

template <class L, class Scalar>
concept records_blocks = requires(L& log, std::size_t first, std::span<const Scalar> block, Scalar shrink) {
  { log.record(first, block, block, block, shrink) } -> std::convertible_to<bool>;
};

template <class L, class Scalar>
concept restores_blocks = requires(L& log, std::size_t first, std::span<Scalar> block, std::span<const Scalar> updates,
                                   Scalar shrink) { log.restore(first, block, updates, shrink); };

/// Keeps what it takes to get the parameters of a tensor back.
///
/// Requirements, for `L l`; blocks come from first to last, one with `first` 0 starts anew:
/// - `L::needs_updates`: whether `restore` looks at the updates; if not, they need not be computed again.
/// - `l.record(first, before, after, updates, shrink) -> bool`: elements from `first` on; false: no room, the step is off.
/// - `l.restore(first, parameters, updates, shrink)`: overwrites `after` by `before`, bit for bit.
///
/// Models: `kept_parameters`, `kept_residues`, `no_undo`. Archetype: `tests/unit/optimizer/archetypes.hpp`.
template <class L, class Scalar>
concept undo_log =
    scalar<Scalar> && says_if_it_needs_updates<L> && records_blocks<L, Scalar> && restores_blocks<L, Scalar>;

/// Stops the compilation with one sentence for each thing that `O` lacks.
template <class O, class Scalar>
consteval bool check_undoable_optimizer() {
  static_assert(scalar<Scalar>, "undoable_optimizer: Scalar is float or double; see docs/reference/optimizer.md");
  static_assert(has_moment_count<O>,
                "undoable_optimizer: static constexpr std::size_t moment_count; see "
                "docs/reference/optimizer.md#undoable_optimizer");
  static_assert(has_step_numbers<O>,
                "undoable_optimizer: a type numbers with a field shrink; see "
                "docs/reference/optimizer.md#undoable_optimizer");
  static_assert(prepares_steps<O, Scalar>,
                "undoable_optimizer: optimizer.prepare(step, factor, parameters, gradient_view) -> numbers; see "
                "docs/reference/optimizer.md#undoable_optimizer");
  static_assert(computes_updates<O, Scalar>,
                "undoable_optimizer: optimizer.update(numbers, gradient_view, out); see "
                "docs/reference/optimizer.md#undoable_optimizer");
  static_assert(advances_moments<O, Scalar>,
                "undoable_optimizer: optimizer.advance(numbers, gradient, moments); see "
                "docs/reference/optimizer.md#undoable_optimizer");
  return undoable_optimizer<O, Scalar>;
}

/// Stops the compilation with one sentence where `L` is not an undo log.
template <class L, class Scalar>
consteval bool check_undo_log() {
  static_assert(undo_log<L, Scalar>,
                "undo_log: needs_updates, log.record(first, before, after, updates, shrink) -> bool and "
                "log.restore(first, parameters, updates, shrink); see docs/reference/optimizer.md#undo_log");
  return undo_log<L, Scalar>;
}

}  // namespace brim
