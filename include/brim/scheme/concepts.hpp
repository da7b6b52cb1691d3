// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/model/placement.hpp>
#include <brim/model/shape.hpp>
#include <brim/scheme/order.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace brim {

template <class S>
concept has_scheme_name = requires {
  { S::name } -> std::convertible_to<std::string_view>;
};

template <class S>
concept has_device_order = requires(const S& scheme, const pipeline_shape& shape, device_index device,
                                    order_sink& out) { scheme.order(shape, device, out); };

template <class S>
concept has_own_placement = requires(const S& scheme, const pipeline_shape& shape) {
  { scheme.placement(shape) } -> std::convertible_to<placement>;
};

template <class S>
concept has_refusal = requires(const S& scheme, const pipeline_shape& shape) {
  { scheme.refusal(shape) } -> std::convertible_to<std::string_view>;
  requires std::is_trivially_destructible_v<decltype(scheme.refusal(shape))>;  // a std::string would be gone too early
};

/// A scheme that orders all devices at once: `s.prepare(shape)` is asked once for a rule with the same `order`, which then
/// only hands the result over.
template <class S>
concept preparable_scheme = requires(const S& scheme, const pipeline_shape& shape) {
  { scheme.prepare(shape) } -> has_device_order;
};

namespace detail {

// Members of that name that are meant for us, whether or not they can be used: otherwise a slip in a declaration would
// quietly give the default.
template <class S>
concept names_placement =
    requires { &S::placement; } || requires(S& scheme, const pipeline_shape& shape) { scheme.placement(shape); };
template <class S>
concept names_refusal =
    requires { &S::refusal; } || requires(S& scheme, const pipeline_shape& shape) { scheme.refusal(shape); };
template <class S>
concept names_prepare =
    requires { &S::prepare; } || requires(S& scheme, const pipeline_shape& shape) { scheme.prepare(shape); };

}  // namespace detail

template <class S> concept own_placement_or_none = has_own_placement<S> || !detail::names_placement<S>;

template <class S> concept refusal_or_none = has_refusal<S> || !detail::names_refusal<S>;

template <class S> concept prepare_or_none = preparable_scheme<S> || !detail::names_prepare<S>;

/// A rule that orders the forwards and backwards of every device.
///
/// Requirements, for `const S s`:
/// - `S::name`: text with static storage, as the command line spells it.
/// - `s.order(shape, device, out)`: hands the device's actions to `out` (an `order_sink`) in order of execution.
///
/// Optional, but not in another form:
/// - `s.placement(shape) -> placement`: which device holds which stage; default: stage `s` on device `s`.
/// - `s.refusal(shape) -> std::string_view`: the rule that the shape breaks, text with static storage; empty (the default)
///   where the shape is accepted.
///
/// Not required: times, costs, or that the order cannot deadlock; `simulate` finds that out and says where.
/// Refinement: `preparable_scheme`, for rules that must look at all devices at once.
/// Complexity: `order` (or `prepare`, for all devices) should be linear in the number of actions that it hands over.
/// Models: `brim::schemes`. Archetype: `tests/support/archetypes.hpp`; a scheme of one's own: `examples/own_scheme/`.
template <class S>
concept pipeline_scheme =
    has_scheme_name<S> && has_device_order<S> && own_placement_or_none<S> && refusal_or_none<S> && prepare_or_none<S>;

/// Stops the compilation with one sentence for each thing that `S` lacks or declares wrongly. It makes `simulate` answer in the library's
/// own words; ask the concept, not the function, whether a type is a scheme.
template <class S>
consteval bool check_pipeline_scheme() {
  static_assert(
      has_scheme_name<S>,
      "pipeline_scheme: static constexpr std::string_view name; see docs/reference/scheme.md#pipeline_scheme");
  static_assert(
      has_device_order<S>,
      "pipeline_scheme: scheme.order(shape, device_index, out) const; see docs/reference/scheme.md#pipeline_scheme");
  static_assert(
      own_placement_or_none<S>,
      "pipeline_scheme: scheme.placement(shape) const -> placement; see docs/reference/scheme.md#pipeline_scheme");
  static_assert(refusal_or_none<S>,
                "pipeline_scheme: scheme.refusal(shape) const -> std::string_view, of text that stays; see "
                "docs/reference/scheme.md#pipeline_scheme");
  static_assert(prepare_or_none<S>,
                "pipeline_scheme: scheme.prepare(shape) const -> something with the same order(...); see "
                "docs/reference/scheme.md#pipeline_scheme");
  return pipeline_scheme<S>;
}

}  // namespace brim
