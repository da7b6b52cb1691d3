// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/scheme/concepts.hpp>
#include <brim/scheme/order.hpp>

#include <string>
#include <string_view>

namespace brim {

/// The rule that this shape breaks, or an empty text where the scheme accepts it. Does not look at `check_shape`'s rules.
template <pipeline_scheme Scheme>
[[nodiscard]] constexpr std::string_view refusal_of(const Scheme& scheme, const pipeline_shape& shape) {
  if constexpr (has_refusal<Scheme>) return scheme.refusal(shape);
  return {};
}

/// Where the scheme puts the stages of an accepted shape.
template <pipeline_scheme Scheme>
[[nodiscard]] constexpr placement placement_of(const Scheme& scheme, const pipeline_shape& shape) {
  if constexpr (has_own_placement<Scheme>)
    return scheme.placement(shape);
  else
    return one_stage_a_device(shape);
}

namespace detail {

[[noreturn]] inline void raise_refused(std::string_view scheme, const pipeline_shape& shape, std::string_view rule) {
  raise(error_code::refused_shape, text(scheme, ": ", rule, " (", to_string(shape), ")"));
}

}  // namespace detail

/// `make_order` in the arrays that `out` already has. After an error `out` means nothing.
template <class Scheme>
constexpr void make_order_into(order& out, const Scheme& scheme, const pipeline_shape& shape) {
  if constexpr (check_pipeline_scheme<Scheme>()) {
    check_shape(shape);
    const std::string_view rule = refusal_of(scheme, shape);
    if (!rule.empty()) detail::raise_refused(Scheme::name, shape, rule);
    out.scheme = Scheme::name;
    out.shape = shape;
    out.where = placement_of(scheme, shape);
    out.actions.clear();
    out.actions.reserve(2 * static_cast<std::size_t>(out.where.stages) * static_cast<std::size_t>(shape.microbatches));
    out.offsets.assign(1, 0);
    order_sink sink(out.actions);
    const auto order_all = [&](const auto& from) {
      for (const device_index device : devices(shape)) {
        from.order(shape, device, sink);
        out.offsets.push_back(out.actions.size());
      }
    };
    if constexpr (preparable_scheme<Scheme>)
      order_all(scheme.prepare(shape));
    else
      order_all(scheme);
  }
}

/// The order of every device. Complexity: linear in the number of actions.
/// Errors: `bad_shape`, `refused_shape` (the scheme's rule, by name). The order itself is checked by `simulate`.
template <class Scheme>
[[nodiscard]] constexpr order make_order(const Scheme& scheme, const pipeline_shape& shape) {
  order made{};
  make_order_into(made, scheme, shape);
  return made;
}

}  // namespace brim
