// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/plan/plan_index.hpp>
#include <brim/plan/progress.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace brim::detail {

/// What the head of a stopped stream waits for.
template <class Durations>
std::string awaited(const plan_index& x, const plan_progress<Durations>& progress, const stream& s) {
  const plan& p = x.p;
  const std::uint32_t at = progress.head(s);
  const auto other = [&](std::uint32_t i) {
    return text(describe_entry(p, p.instructions[i]), " (", describe_stream(x.stream_at(i)), ")");
  };
  for (const event_index e : p.waits_of(p.instructions[at]))
    if (!progress.recorded(e)) return other(x.recorded_by[e.at()]);
  if (!is_collective(p.instructions[at].what.kind)) return other(x.partner[at]);
  const collective_group& g = x.groups[x.partner[at]];
  for (std::size_t m = g.first; m < g.last; ++m) {
    const stream& member = x.stream_at(x.members[m]);
    if (!progress.at_peer(member) || progress.head(member) != x.members[m]) return other(x.members[m]);
  }
  return {};
}

/// A grid of the entries round the place where each stream stopped; `[ ]` marks the stuck cell, `ok` what has run.
template <class Durations>
std::string stuck_streams(const plan_index& x, const plan_progress<Durations>& progress) {
  constexpr std::uint32_t around = 2;
  constexpr std::size_t most_rows = 32;
  const plan& p = x.p;
  std::string grid;
  std::size_t rows = 0;
  for (const stream& s : p.streams) {
    if (++rows > most_rows) {
      grid += "\n  ...";
      break;
    }
    grid += text("\n  ", describe_stream(s), ": ");
    if (progress.finished(s)) {
      grid += "finished";
      continue;
    }
    const std::uint32_t stuck = progress.head(s);
    const std::uint32_t first = stuck - s.begin > around ? stuck - around : s.begin;
    if (first > s.begin) grid += "... ";
    for (std::uint32_t i = first; i < std::min(s.end, stuck + around + 1); ++i) {
      if (i != first) grid += ", ";
      const std::string cell = describe_entry(p, p.instructions[i]);
      grid += i == stuck ? text("[", cell, "]") : i < stuck ? text("ok ", cell) : cell;
    }
    grid += text("  waits for ", awaited(x, progress, s));
  }
  return grid;
}

/// The last check: under the stated transport every stream comes to its end.
inline bool check_progress(plan_index& x) {
  const no_durations none;
  plan_progress<no_durations> progress(x, none);
  if (progress.run()) return true;
  for (const stream& s : x.p.streams) {
    if (progress.finished(s)) continue;
    const std::uint32_t at = progress.head(s);
    const instruction& i = x.p.instructions[at];
    return x.fail(
        text("deadlock with transport ", name_of(x.p.transport), ": ", describe_stream(s), " cannot start ",
             describe_entry(x.p, i), "; every unfinished stream waits for another:", stuck_streams(x, progress)),
        site_of(s.device, i.step, i.what), error_code::deadlock);
  }
  return true;
}

}  // namespace brim::detail
