// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/scheme/order.hpp>

#include <algorithm>
#include <span>
#include <string>

namespace brim::detail {

/// `"backward stage 3 microbatch 1"`.
inline std::string describe(const action& a) {
  std::string out = text(name_of(a.kind), " stage ", a.stage.value, " microbatch ", a.microbatch.value);
  if (a.route.value != 0) out += text(" route ", a.route.value);
  return out;
}

/// What an action needs from another stage. Only asked of actions that can wait: not the first forward, not the last backward.
inline action input_of(const action& a) {
  action needed = a;
  if (a.kind == action_kind::forward) {
    needed.stage = stage_index(a.stage.value - 1);
  } else {
    needed.stage = stage_index(a.stage.value + 1);
    needed.kind = action_kind::backward;
  }
  return needed;
}

/// A grid of the cells round the place where each device stopped; `[ ]` marks the stuck cell, `ok` what has run.
inline std::string stuck_grid(const order& program, std::span<const std::size_t> next) {
  constexpr std::size_t around = 2;
  std::string grid;
  std::size_t rows = 0;
  for (const device_index d : devices(program.shape)) {
    const std::span<const action> row = program.row(d);
    const std::size_t stuck = next[d.at()] - program.offsets[d.at()];
    if (++rows > 16) {
      grid += "\n  ...";
      break;
    }
    grid += text("\n  device ", d.value, ": ");
    if (stuck == row.size()) {
      grid += "finished";
      continue;
    }
    const std::size_t first = stuck > around ? stuck - around : 0;
    if (first > 0) grid += "... ";
    for (std::size_t i = first; i < std::min(row.size(), stuck + around + 1); ++i) {
      if (i != first) grid += ", ";
      grid += i == stuck ? text("[", describe(row[i]), "]") : i < stuck ? text("ok ", describe(row[i])) : describe(row[i]);
    }
    grid += text("  waits for ", describe(input_of(row[stuck])));
  }
  return grid;
}

[[noreturn]] inline void raise_deadlock(const order& program, std::span<const std::size_t> next) {
  for (const device_index d : devices(program.shape)) {
    const std::size_t at = next[d.at()];
    if (at == program.offsets[d.at() + 1]) continue;
    const action& stuck = program.actions[at];
    raise(error_code::deadlock,
          text(program.scheme, ": deadlock: device ", d.value, " cannot start ", describe(stuck),
               "; every unfinished device waits for another:", stuck_grid(program, next)),
          {.device = d.value, .stage = stuck.stage.value, .microbatch = stuck.microbatch.value});
  }
  raise(error_code::deadlock, text(program.scheme, ": deadlock"));
}

[[noreturn]] inline void raise_bad_order(const order& program, device_index d, const action& a, const char* fault) {
  raise(error_code::bad_order, text(program.scheme, ": device ", d.value, ": ", describe(a), ": ", fault),
        {.device = d.value, .stage = a.stage.value, .microbatch = a.microbatch.value});
}

[[noreturn]] inline void raise_incomplete_order(const order& program, std::int64_t have, std::int64_t want, const char* what) {
  raise(error_code::bad_order,
        text(program.scheme, ": the order has ", have, " ", what, ", a step needs ", want, " (", to_string(program.shape), ")"));
}

[[noreturn]] inline void raise_too_long(const order& program) {
  raise(error_code::bad_profile, text(program.scheme, ": the durations add up to more than 2^61 ticks; check the time unit"));
}

}  // namespace brim::detail
