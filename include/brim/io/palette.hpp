// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/text.hpp>
#include <brim/model/action.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace brim::detail {

/// How a kind of action looks in the pictures.
struct look {
  std::string_view fill;    ///< of its box
  std::string_view letter;  ///< of the text on it
  std::uint8_t ansi;        ///< background, of 256 colours
};

/// Blues and greens for the pipeline's own actions, warm colours for what an optimizer adds, greys for communication:
/// far apart also for people who see few colours, because lightness differs too.
inline constexpr std::array<look, action_kind_count> looks{{
    {"#8fb8de", "#12304a", 110},  // forward
    {"#3f78ad", "#ffffff", 67},   // backward
    {"#3f78ad", "#ffffff", 67},   // backward_input
    {"#6fa89b", "#10302a", 72},   // backward_weight
    {"#b9cfe4", "#12304a", 152},  // recompute
    {"#4d5f73", "#ffffff", 60},   // optimizer_step
    {"#f2c14e", "#4a3500", 221},  // statistic
    {"#9aa3ad", "#1d2227", 247},  // sync_statistic
    {"#c8553d", "#ffffff", 167},  // refresh
    {"#b3bac2", "#1d2227", 249},  // sync_refresh
    {"#7d5ba6", "#ffffff", 97},   // precondition
    {"#7f8893", "#ffffff", 245},  // sync_gradient
    {"#646d78", "#ffffff", 243},  // sync_norm
    {"#aeb6bf", "#1d2227", 250},  // send_activation
    {"#c3c9d0", "#1d2227", 251},  // recv_activation
    {"#8d96a1", "#ffffff", 246},  // send_gradient
    {"#a3abb4", "#1d2227", 248},  // recv_gradient
    {"#d98fb5", "#401329", 175},  // user
}};
inline constexpr look statistic_b_look{"#e8974e", "#472300", 173};

[[nodiscard]] constexpr const look& look_of(const action& what) {
  if (what.kind == action_kind::statistic && what.side == side::b) return statistic_b_look;
  return looks[static_cast<std::size_t>(what.kind)];
}

inline constexpr std::string_view ansi_reset = "\x1b[0m";

/// Black on the kind's colour.
inline std::string ansi_colour(const action& what) {
  return text("\x1b[0;30;48;5;", static_cast<int>(look_of(what).ansi), "m");
}

}  // namespace brim::detail
