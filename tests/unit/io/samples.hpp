// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/filled.hpp>
#include <brim/plan/plan.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>

#include <string_view>

/// Small values written by hand, so that the goldens depend on no search.
namespace samples {

/// Text that breaks careless writers: quotes, a backslash, markup, line breaks, a control character, UTF-8.
inline constexpr std::string_view hostile = "a\"b\\c<d>&'e\n\r\t\x01 \xC3\xA9 \xE2\x86\x92 \xF0\x9F\x98\x80,";

inline brim::timeline two_devices() {
  return brim::simulate(brim::schemes::one_f_one_b{}, {.devices = 2, .microbatches = 2},
                        brim::uniform_cost{.forward = 1000, .backward = 2000, .transfer_time = 250});
}

inline brim::action second_order(brim::action_kind kind, brim::side side, int stage, int microbatch, int layer) {
  return {kind,
          side,
          brim::route_index(0),
          brim::stage_index(stage),
          brim::microbatch_index(microbatch),
          brim::layer_index(layer)};
}

/// Two devices, a cycle of two steps: a statistic of the step itself, one that runs a step later, a refresh in two
/// pieces, and preconditioning at the end of every step.
inline brim::filled small_fill(int replicas = 1) {
  using brim::action_kind;
  using brim::device_index;
  using brim::side;
  brim::filled f{.pipeline = two_devices(),
                 .replicas = replicas,
                 .cycle_length = 2,
                 .step_length = 10000,
                 .work = {},
                 .tail = {},
                 .report = {}};
  for (int r = 0; r < replicas; ++r) {
    const auto add = [&](const brim::action& what, int device, int step, int origin, int piece, int pieces,
                         brim::ticks start, brim::ticks end) {
      f.work.push_back({what, device_index(device), r, step, origin, piece, pieces, {start, end}});
    };
    add(second_order(action_kind::statistic, side::a, 0, 0, 0), 0, 0, 0, 0, 1, 2000, 2750);
    add(second_order(action_kind::refresh, side::a, 0, -1, 0), 0, 0, -1, 0, 2, 2750, 3100);
    add(second_order(action_kind::statistic, side::b, 0, 1, 0), 0, 1, 0, 0, 1, 2000, 2500);
    add(second_order(action_kind::refresh, side::a, 0, -1, 0), 0, 1, 0, 1, 2, 2500, 3000);
    add(second_order(action_kind::statistic, side::a, 1, 0, 0), 1, 0, 0, 0, 1, 7250, 7700);
    for (int d = 0; d < 2; ++d)
      f.tail.push_back({second_order(action_kind::precondition, side::none, d, -1, 0),
                        device_index(d),
                        r,
                        0,
                        0,
                        0,
                        1,
                        {9500, 10000}});
  }
  f.report = {.policy = "by hand",
              .utilization_before = 0.75,
              .utilization = 0.9,
              .bound = 1,
              .load = 0.5,
              .refresh_interval = 2,
              .greatest_age = 3,
              .overhead = 0.0625,
              .kept = 4096,
              .devices = {}};
  f.report.devices.resize(2 * static_cast<std::size_t>(replicas), {.utilization_before = 0.75,
                                                                   .utilization = 0.9,
                                                                   .bound = 1,
                                                                   .load = 0.5,
                                                                   .refresh_interval = 2,
                                                                   .greatest_age = 3,
                                                                   .precondition = 500,
                                                                   .kept = 4096});
  return f;
}

/// A plan with every kind of entry that the format knows.
inline brim::plan small_plan() {
  using brim::action_kind;
  using brim::device_index;
  using brim::event_index;
  using brim::side;
  brim::plan p{.scheme = "1f1b",
               .shape = {.devices = 2, .microbatches = 1},
               .where = brim::one_stage_a_device({.devices = 2}),
               .transport = brim::transport::queue_per_edge,
               .replica = 1,
               .replicas = 2,
               .steps = 2,
               .step_length = 10,
               .timeline = {},
               .streams = {},
               .instructions = {},
               .waits = {},
               .events = 2,
               .metrics = {}};
  const auto stage = [](action_kind kind, int s) { return second_order(kind, side::none, s, 0, -1); };
  p.timeline = {{stage(action_kind::forward, 0), device_index(0), 0, 0, 0, 1, {0, 1}},
                {stage(action_kind::backward, 0), device_index(0), 0, 0, 0, 1, {4, 6}},
                {second_order(action_kind::statistic, side::b, 0, 0, 3), device_index(0), 1, 0, 1, 2, {11, 12}},
                {stage(action_kind::forward, 1), device_index(1), 0, 0, 0, 1, {1, 2}},
                {stage(action_kind::backward, 1), device_index(1), 0, 0, 0, 1, {2, 4}}};
  p.instructions = {
      {.what = stage(action_kind::forward, 0), .records = event_index(0)},
      {.what = second_order(action_kind::statistic, side::b, 0, 0, 3),
       .step = 1,
       .origin_step = -1,
       .piece = 1,
       .pieces = 2},
      {.what = stage(action_kind::send_activation, 0),
       .peer = device_index(1),
       .tag = 7,
       .first_wait = 0,
       .wait_count = 1},
      {.what = stage(action_kind::forward, 1), .first_wait = 1, .wait_count = 2},
      {.what = stage(action_kind::recv_activation, 1), .peer = device_index(0), .tag = 7, .records = event_index(1)},
      {.what = second_order(action_kind::sync_norm, side::none, -1, -1, -1), .tag = 8}};
  p.waits = {event_index(0), event_index(0), event_index(1)};
  p.streams = {{device_index(0), brim::stream_kind::compute, device_index(-1), 0, 2},
               {device_index(0), brim::stream_kind::send, device_index(1), 2, 3},
               {device_index(1), brim::stream_kind::compute, device_index(-1), 3, 4},
               {device_index(1), brim::stream_kind::receive, device_index(0), 4, 5},
               {device_index(1), brim::stream_kind::collective, device_index(-1), 5, 6}};
  p.metrics = {.makespan = 6,
               .spans = {6, 3},
               .period = 6,
               .bubble_ratio = 1.0 / 3,
               .utilization = 0.1,
               .lower_bound = 6,
               .peak_memory = {1 << 20, 0},
               .refresh_interval = {2.5, 2}};
  return p;
}

}  // namespace samples
