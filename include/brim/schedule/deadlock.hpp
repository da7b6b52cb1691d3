// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/core/ticks.hpp>
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

/// What a stuck action waits for: the result of the stage beside it, or, for a backward of the last stage, its own forward.
inline action input_of(const order& program, const action& a) {
  action needed = a;
  if (a.kind == action_kind::forward) {
    needed.stage = stage_index(a.stage.value - 1);
  } else if (a.stage.value + 1 == program.where.stages) {
    needed.kind = action_kind::forward;
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
      grid += i == stuck  ? text("[", describe(row[i]), "]")
              : i < stuck ? text("ok ", describe(row[i]))
                          : describe(row[i]);
    }
    grid += text("  waits for ", describe(input_of(program, row[stuck])));
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

/// Counts what a finished but incomplete order lacks.
[[noreturn]] inline void raise_incomplete_order(const order& program) {
  const std::int64_t want = std::int64_t{program.where.stages} * program.shape.microbatches;
  std::int64_t forwards = 0;
  std::int64_t backwards = 0;
  std::int64_t balance = 0;
  for (const action& a : program.actions) {
    forwards += a.kind == action_kind::forward ? 1 : 0;
    backwards += a.kind == action_kind::backward || a.kind == action_kind::backward_input ? 1 : 0;
    balance += a.kind == action_kind::backward_input ? 1 : a.kind == action_kind::backward_weight ? -1 : 0;
  }
  const auto fail = [&](std::int64_t have, std::int64_t needs, const char* what) {
    raise(error_code::bad_order, text(program.scheme, ": the order has ", have, " ", what, ", a step needs ", needs,
                                      " (", to_string(program.shape), ")"));
  };
  if (forwards != want) fail(forwards, want, "forwards");
  if (backwards != want) fail(backwards, want, "backwards");
  raise(error_code::bad_order, text(program.scheme, ": the order lacks ", balance, " backward_weights"));
}

[[noreturn]] inline void raise_bad_layout(const order& program, const char* fault) {
  raise(error_code::bad_order, text(program.scheme, ": ", fault, " (", to_string(program.shape), ")"));
}

/// Checks what an edited order could break: the sizes that the simulation relies on.
constexpr void check_layout(const order& program) {
  const placement& where = program.where;
  const char* fault = nullptr;
  if (where.devices != program.shape.devices || where.devices < 1 || where.stages < 1 || where.routes < 1 ||
      program.shape.microbatches < 1)
    fault = "its placement does not fit its shape";
  else if (std::int64_t{where.stages} > largest_action_count / 2 / program.shape.microbatches)
    fault = "its placement has too many stages";
  else if (static_cast<std::int64_t>(where.holders.size()) != std::int64_t{where.routes} * where.stages)
    fault = "its placement must list routes * stages devices";
  else if (static_cast<std::int64_t>(program.offsets.size()) != std::int64_t{where.devices} + 1 ||
           program.offsets.front() != 0 || program.offsets.back() != program.actions.size())
    fault = "its rows must cover its actions";
  if (fault == nullptr)
    for (const device_index holder : where.holders)
      if (holder.value < 0 || holder.value >= where.devices) fault = "its placement names a device that there is not";
  if (fault == nullptr)
    for (std::size_t d = 1; d < program.offsets.size(); ++d)
      if (program.offsets[d - 1] > program.offsets[d]) fault = "its rows must follow each other";
  if (fault != nullptr) raise_bad_layout(program, fault);
}

[[noreturn]] inline void raise_bad_cost(const order& program, ticks cost) {
  raise(error_code::bad_profile,
        cost < 0 ? text(program.scheme, ": the cost model gives a time of ", cost, " ticks; expected 0 or more")
                 : text(program.scheme, ": a time of ", cost,
                        " ticks is too long: a step of this many actions could last more than 2^61 ticks; check the "
                        "time unit"));
}

}  // namespace brim::detail
