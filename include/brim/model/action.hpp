// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/index.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace brim {

/// What a device does. The names of the second-order kinds are neutral between optimizers.
enum class action_kind : std::uint8_t {
  forward,          ///< forward pass of one microbatch through one stage
  backward,         ///< whole backward pass: input and weight gradient together
  backward_input,   ///< the half that the previous stage waits for
  backward_weight,  ///< the half that nobody waits for before the optimizer
  recompute,        ///< forward again, to rebuild activations
  optimizer_step,   ///< update of a stage's weights
  statistic,        ///< K-FAC curvature factor, Shampoo statistic; of one microbatch or of the gradient
  sync_statistic,   ///< sum of a statistic over the replicas of a stage
  refresh,          ///< inverse, inverse root or eigenbasis of a statistic
  sync_refresh,     ///< share a refreshed matrix among the replicas
  precondition,     ///< gradient times the matrices in use
  sync_gradient,    ///< sum of a stage's gradient over its replicas
  sync_norm,        ///< sum of a norm over all devices
  send_activation,
  recv_activation,
  send_gradient,
  recv_gradient,
  user,  ///< a kind of the user's own; brim only places it
};

inline constexpr std::size_t action_kind_count = 18;

namespace detail {
inline constexpr std::array<std::string_view, action_kind_count> action_names{
    "forward",   "backward",        "backward_input",  "backward_weight", "recompute",     "optimizer_step",
    "statistic", "sync_statistic",  "refresh",         "sync_refresh",    "precondition",  "sync_gradient",
    "sync_norm", "send_activation", "recv_activation", "send_gradient",   "recv_gradient", "user"};
}  // namespace detail

/// The kind as it is written in every file format of brim, e.g. `"backward_input"`.
[[nodiscard]] constexpr std::string_view name_of(action_kind kind) {
  return detail::action_names[static_cast<std::size_t>(kind)];
}

/// Whether a backward is one action, or comes in halves that may run apart, the weight half later.
enum class backward_form : std::uint8_t { whole, halves };

/// Forward or (part of) backward: what the pipeline itself consists of.
[[nodiscard]] constexpr bool is_pipeline_action(action_kind kind) { return kind <= action_kind::recompute; }

/// Statistic … precondition: what a second-order optimizer adds.
[[nodiscard]] constexpr bool is_second_order(action_kind kind) {
  return kind >= action_kind::statistic && kind <= action_kind::precondition;
}

/// Kinds that all holders of a stage (`sync_norm`: all devices) run together.
[[nodiscard]] constexpr bool is_collective(action_kind kind) {
  return kind == action_kind::sync_statistic || kind == action_kind::sync_refresh ||
         kind == action_kind::sync_gradient || kind == action_kind::sync_norm;
}

/// What may stand beside the pipeline: second-order work, collectives, updates, kinds of the user's own.
[[nodiscard]] constexpr bool is_optional_work(action_kind kind) {
  return kind == action_kind::optimizer_step || is_second_order(kind) || is_collective(kind) ||
         kind == action_kind::user;
}

/// The matrix side that a second-order action works on: `a` is the input side (K-FAC A, Shampoo R), `b` the output
/// side (K-FAC B, Shampoo L).
enum class side : std::uint8_t { none, a, b };

[[nodiscard]] constexpr std::string_view name_of(brim::side s) {
  return s == side::a ? "a" : s == side::b ? "b" : "none";
}

/// One unit of work, without time or device. 16 bytes; −1 where an index has no meaning.
struct action {
  action_kind kind = action_kind::forward;
  brim::side side = brim::side::none;
  route_index route{0};
  stage_index stage{-1};
  microbatch_index microbatch{-1};
  layer_index layer{-1};

  friend constexpr bool operator==(const action&, const action&) = default;
};
static_assert(sizeof(action) == 16);

}  // namespace brim
