// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/filled.hpp>
#include <brim/plan/plan.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/// Small plans for the tests, and edits of them that keep their arrays in order.
namespace sample {

using namespace brim;

inline constexpr std::array<transport, 5> transports{transport::buffered, transport::one_queue,
                                                     transport::queue_per_direction, transport::queue_per_edge,
                                                     transport::blocking};

/// A refresh cycle of two steps, made by hand. Layer 0 takes the statistics of step 0 and is refreshed in two pieces, the
/// second in step 1; layer 1 takes those of step 1 and is refreshed in step 0 of the next repetition.
template <class Scheme>
filled two_step_cycle(const Scheme& scheme, const pipeline_shape& shape, std::int32_t replicas = 1) {
  constexpr ticks phase = 100;
  filled f;
  f.pipeline = simulate(scheme, shape, uniform_cost{});
  f.replicas = replicas;
  f.cycle_length = 2;
  const placement& where = f.pipeline.program.where;
  ticks end = 0;
  for (const interval& i : f.pipeline.times) end = std::max(end, i.end);
  f.step_length = end + 5 * phase;
  const bool shared = where.routes * replicas > 1;
  for (std::int32_t replica = 0; replica < replicas; ++replica)
    for (const device_index d : devices(shape)) {
      std::array<std::array<ticks, 2>, 2> next{
          {{end, end + 2 * phase}, {end, end + 2 * phase}}};  // by step, for statistics and refreshes
      const auto put = [&](action what, std::int32_t step, std::int32_t origin, bool late, ticks length,
                           std::int32_t piece, std::int32_t pieces) {
        ticks& at = next[static_cast<std::size_t>(step)][late ? 1 : 0];
        f.work.push_back({what, d, replica, step, origin, piece, pieces, {at, at + length}});
        at += length;
      };
      const auto sync = [&](action what, std::int32_t step, std::int32_t origin, ticks at) {
        if (shared) f.work.push_back({what, d, replica, step, origin, 0, 1, {at, at}});
      };
      const auto finish = [&](action what, ticks at, ticks length) {
        f.tail.push_back({what, d, replica, 0, 0, 0, 1, {at, at + length}});
      };
      ticks tail = end + 4 * phase, update = end + 4 * phase + 50;
      for (std::int32_t r = 0; r < where.routes; ++r)
        for (std::int32_t s = 0; s < where.stages; ++s) {
          if (where.device_of(route_index(r), stage_index(s)) != d) continue;
          for (std::int32_t layer = 0; layer < 2; ++layer)
            for (const side sd : {side::a, side::b}) {
              action a{action_kind::statistic, sd, route_index(r), stage_index(s), microbatch_index(-1),
                       layer_index(layer)};
              const std::int32_t pieces = layer == 0 ? 2 : 1;
              for (std::int32_t m = r; m < shape.microbatches; m += where.routes)
                for (std::int32_t piece = 0; piece < pieces; ++piece) {
                  a.microbatch = microbatch_index(m);
                  put(a, layer, layer, false, 1, piece, pieces);
                }
              a.microbatch = microbatch_index(-1);
              a.kind = action_kind::sync_statistic;
              layer == 0 ? sync(a, 0, 0, end + phase) : sync(a, 0, -1, end + phase);
              a.kind = action_kind::refresh;
              if (layer == 0) {
                put(a, 0, 0, true, 3, 0, 2);
                put(a, 1, 0, true, 3, 1, 2);
              } else {
                put(a, 0, -1, true, 2, 0, 1);
              }
              a.kind = action_kind::sync_refresh;
              layer == 0 ? sync(a, 1, 0, end + 3 * phase) : sync(a, 0, -1, end + 3 * phase);
            }
          action a{action_kind::sync_gradient, side::none,     route_index(r), stage_index(s),
                   microbatch_index(-1),       layer_index(-1)};
          if (shared) finish(a, end + 4 * phase, 0);
          a.kind = action_kind::precondition;
          for (std::int32_t layer = 0; layer < 2; ++layer) {
            a.layer = layer_index(layer);
            finish(a, tail, 1);
            ++tail;
          }
          a.kind = action_kind::sync_gradient;  // the preconditioned gradient of layer 0
          a.layer = layer_index(0);
          if (shared) finish(a, end + 4 * phase + 50, 0);
          a.layer = layer_index(-1);
          a.kind = action_kind::optimizer_step;
          finish(a, update, 1);
          ++update;
        }
    }
  f.report.utilization = 0.5;
  f.report.devices.resize(static_cast<std::size_t>(replicas * shape.devices));
  for (device_report& d : f.report.devices) d.refresh_interval = 2;
  return f;
}

/// Moves the streams after position `at` by one, and the waits by `waits`.
inline void shift(plan& p, std::size_t at, int by, int waits) {
  for (stream& s : p.streams) {
    if (s.begin > at) s.begin = static_cast<std::uint32_t>(static_cast<int>(s.begin) + by);
    if (s.end > at) s.end = static_cast<std::uint32_t>(static_cast<int>(s.end) + by);
  }
  for (std::size_t i = at; i < p.instructions.size(); ++i)
    if (p.instructions[i].wait_count > 0)
      p.instructions[i].first_wait = static_cast<std::uint32_t>(static_cast<int>(p.instructions[i].first_wait) + waits);
}

/// Takes an instruction out, with its waits; its event is recorded no more.
inline void drop(plan& p, std::size_t at) {
  const instruction i = p.instructions[at];
  p.waits.erase(p.waits.begin() + i.first_wait, p.waits.begin() + i.first_wait + i.wait_count);
  p.instructions.erase(p.instructions.begin() + static_cast<std::ptrdiff_t>(at));
  shift(p, at, -1, -static_cast<int>(i.wait_count));
}

/// Puts a copy of an instruction behind it; the copy neither waits nor records.
inline void duplicate(plan& p, std::size_t at) {
  instruction copy = p.instructions[at];
  copy.wait_count = copy.first_wait = 0;
  copy.records = event_index(-1);
  p.instructions.insert(p.instructions.begin() + static_cast<std::ptrdiff_t>(at) + 1, copy);
  shift(p, at, 1, 0);
}

/// Takes one wait out.
inline void drop_wait(plan& p, std::size_t at, std::size_t which) {
  instruction& i = p.instructions[at];
  p.waits.erase(p.waits.begin() + i.first_wait + static_cast<std::ptrdiff_t>(which));
  if (--i.wait_count == 0) i.first_wait = 0;
  for (std::size_t k = at + 1; k < p.instructions.size(); ++k)
    if (p.instructions[k].wait_count > 0) --p.instructions[k].first_wait;
}

/// Makes an instruction wait for one more event.
inline void add_wait(plan& p, std::size_t at, event_index e) {
  std::uint32_t first = 0;
  for (std::size_t k = 0; k < at; ++k) first += p.instructions[k].wait_count;
  p.waits.insert(p.waits.begin() + first, e);
  instruction& i = p.instructions[at];
  i.first_wait = first;
  ++i.wait_count;
  for (std::size_t k = at + 1; k < p.instructions.size(); ++k)
    if (p.instructions[k].wait_count > 0) ++p.instructions[k].first_wait;
}

/// Exchanges the actions of two instructions: what they do, not what they wait for or record.
inline void exchange(plan& p, std::size_t a, std::size_t b) {
  std::swap(p.instructions[a], p.instructions[b]);
  std::swap(p.instructions[a].first_wait, p.instructions[b].first_wait);
  std::swap(p.instructions[a].wait_count, p.instructions[b].wait_count);
  std::swap(p.instructions[a].records, p.instructions[b].records);
}

/// Moves an action to an earlier place of its stream; those between go one place further.
inline void move(plan& p, std::size_t from, std::size_t to) {
  for (; from > to; --from) exchange(p, from - 1, from);
}

/// Position of the first instruction for which `wanted` holds, `skip` of them left out; the number of instructions for none.
template <class Wanted>
std::size_t position(const plan& p, const Wanted& wanted, std::size_t skip = 0) {
  for (std::size_t i = 0; i < p.instructions.size(); ++i)
    if (wanted(p.instructions[i]) && skip-- == 0) return i;
  return p.instructions.size();
}
inline std::size_t position(const plan& p, action_kind kind, std::size_t skip = 0) {
  return position(
      p, [kind](const instruction& i) { return i.what.kind == kind; }, skip);
}

}  // namespace sample
