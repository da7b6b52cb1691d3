// SPDX-License-Identifier: Apache-2.0
#include "sample.hpp"

#include <brim/brim.hpp>
#include <brim/plan/lower.hpp>
#include <brim/plan/replay_length.hpp>
#include <brim/plan/verify.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace brim;

namespace {

/// The streams as text: kind, stage, microbatch; `?` an awaited event, `!` a recorded one.
std::string trace(const plan& p) {
  std::string out;
  for (const stream& s : p.streams) {
    out += detail::text(s.device.value, " ", name_of(s.kind), ":");
    for (const instruction& i : p.instructions_of(s)) {
      out += detail::text(" ", name_of(i.what.kind), " ", i.what.stage.value, ".", i.what.microbatch.value);
      for (const event_index e : p.waits_of(i)) out += detail::text("?", e.value);
      if (i.records.value >= 0) out += detail::text("!", i.records.value);
    }
    out += "\n";
  }
  return out;
}

timeline small(std::int32_t devices, std::int32_t microbatches) {
  return simulate(schemes::one_f_one_b{}, {.devices = devices, .microbatches = microbatches}, uniform_cost{});
}

}  // namespace

TEST_CASE("lower: one queue, two devices") {
  CHECK(trace(lower(small(2, 2))) ==
        "0 compute: forward 0.0!0 forward 0.1!1 backward 0.0?2 backward 0.1?3\n"
        "0 communication: send_activation 0.0?0 send_activation 0.1?1 recv_gradient 0.0!2 recv_gradient 0.1!3\n"
        "1 compute: forward 1.0?6 backward 1.0!4 forward 1.1?7 backward 1.1!5\n"
        "1 communication: recv_activation 1.0!6 recv_activation 1.1!7 send_gradient 1.0?4 send_gradient 1.1?5\n");
}

TEST_CASE("lower: blocking puts everything in the one order of the device, without events") {
  const plan p = lower(small(2, 2), {.transport = transport::blocking});
  CHECK(trace(p) ==
        "0 compute: forward 0.0 send_activation 0.0 forward 0.1 send_activation 0.1 recv_gradient 0.0 backward 0.0 "
        "recv_gradient 0.1 "
        "backward 0.1\n"
        "1 compute: recv_activation 1.0 forward 1.0 recv_activation 1.1 backward 1.0 send_gradient 1.0 forward 1.1 "
        "backward 1.1 "
        "send_gradient 1.1\n");
  CHECK(p.events == 0);
}

TEST_CASE("lower: streams of each transport") {
  const auto kinds = [](transport t) {
    const plan p = lower(small(3, 2), {.transport = t});
    std::string out;
    for (const stream& s : p.streams_of(device_index(1))) {
      out += detail::text(name_of(s.kind), s.peer.value < 0 ? std::string() : std::to_string(s.peer.value), " ");
    }
    return out;
  };
  CHECK(kinds(transport::buffered) == "compute send receive ");
  CHECK(kinds(transport::one_queue) == "compute communication ");
  CHECK(kinds(transport::queue_per_direction) == "compute activation gradient ");
  CHECK(kinds(transport::queue_per_edge) == "compute send0 receive0 send2 receive2 ");
  CHECK(kinds(transport::blocking) == "compute ");
}

TEST_CASE("lower: names of transports and streams go both ways") {
  for (const transport t : sample::transports) CHECK(transport_named(name_of(t)) == t);
  CHECK(!transport_named("nccl"));
  for (std::size_t k = 0; k < stream_kind_count; ++k)
    CHECK(stream_kind_named(name_of(static_cast<stream_kind>(k))) == static_cast<stream_kind>(k));
  CHECK(!stream_kind_named("copy"));
}

TEST_CASE("lower: an earlier wait makes a later one needless") {
  // With one queue device 1 of 2 gets both activations before it can send a gradient, so waiting for the second is enough
  // where it comes first: here the order of the device is changed to run microbatch 1 first.
  timeline t = simulate(schemes::gpipe{}, {.devices = 2, .microbatches = 2}, uniform_cost{});
  std::swap(t.program.actions[4], t.program.actions[5]);
  t.times[4].start = t.times[4].end = 2;
  CHECK(trace(lower(t)).find("1 compute: forward 1.1?6 forward 1.0 backward 1.0!4") != std::string::npos);
}

#if BRIM_HAS_EXCEPTIONS  // libstdc++ cannot shrink a constant vector without them
TEST_CASE("lower: a static timeline and a timeline give the same plan") {
  constexpr auto fixed =
      static_plan<schemes::one_f_one_b{}, pipeline_shape{.devices = 3, .microbatches = 4}>(uniform_cost{});
  CHECK(lower(fixed) == lower(small(3, 4)));
}
#endif

TEST_CASE("lower: metrics") {
  const timeline t = simulate(schemes::gpipe{}, {.devices = 4, .microbatches = 8}, uniform_cost{});
  plan p = lower(t);
  CHECK(p.scheme == "gpipe");
  CHECK(p.steps == 1);
  CHECK(p.step_length == 33);
  CHECK(p.metrics.makespan == 33);
  CHECK(p.metrics.period == period(t));
  CHECK(p.metrics.spans.size() == 4);
  CHECK(p.metrics.bubble_ratio == doctest::Approx(3.0 / 11));
  CHECK(p.metrics.utilization == doctest::Approx(8.0 / 11));
  CHECK(p.metrics.lower_bound == 0);
  measure(p, t, uniform_cost{});
  CHECK(p.metrics.lower_bound == 33);
  CHECK(p.metrics.peak_memory.empty());
}

TEST_CASE("lower: tags are the same on both ends and differ within a step") {
  const plan p = lower(simulate(schemes::chimera{}, {.devices = 4, .microbatches = 8}, uniform_cost{}));
  std::set<std::int32_t> sent, received;
  for (const instruction& i : p.instructions) {
    if (is_send(i.what.kind)) CHECK(sent.insert(i.tag).second);
    if (is_receive(i.what.kind)) CHECK(received.insert(i.tag).second);
  }
  CHECK(sent == received);
  CHECK(sent.size() == 2 * 3 * 8);
}

TEST_CASE("lower: a filled cycle") {
  for (const transport t : sample::transports) {
    CAPTURE(name_of(t));
    const filled f = sample::two_step_cycle(schemes::chimera{}, {.devices = 4, .microbatches = 6}, 2);
    const plan p = lower(f, {.transport = t, .replica = 1});
    const auto found = find_fault(p);
    CHECK_MESSAGE(!found, (found ? found->sentence : ""));
    CHECK(p.steps == 2);
    CHECK(p.replicas == 2);
    CHECK(p.metrics.utilization == used_share(p));
    CHECK(p.metrics.utilization > 0.1);
    CHECK(p.metrics.refresh_interval == std::vector<double>(4, 2.0));
    // Collectives stand in one order on all members and in all replicas: their tags rise in every stream.
    const plan other = lower(f, {.transport = t, .replica = 0});
    for (const plan& q : {p, other})
      for (const stream& s : q.streams) {
        std::int32_t last = -1;
        for (const instruction& i : q.instructions_of(s)) {
          if (!is_collective(i.what.kind)) continue;
          CHECK(i.tag > last);
          last = i.tag;
        }
      }
    for (std::size_t i = 0; i < p.instructions.size(); ++i) CHECK(p.instructions[i] == other.instructions[i]);
  }
}

TEST_CASE("lower: a collective waits for the slowest replica's place") {
  filled f = sample::two_step_cycle(schemes::gpipe{}, {.devices = 1, .microbatches = 2}, 2);
  // In replica 1 one sum comes earlier than all others: the order of replica 0 has to be the same as that of replica 1.
  for (placed_work& w : f.work)
    if (w.replica == 1 && w.what.kind == action_kind::sync_statistic && w.what.side == side::b &&
        w.what.layer.value == 0)
      w.time = {w.time.start - 1, w.time.start - 1};
  const plan p = lower(f, {.replica = 0}), q = lower(f, {.replica = 1});
  CHECK(trace(p) == trace(q));
}

TEST_CASE("lower: an update waits for the exchange, also where its time says otherwise") {
  filled f = sample::two_step_cycle(schemes::one_f_one_b{}, {.devices = 2, .microbatches = 2}, 2);
  for (placed_work& w : f.tail)
    if (w.replica == 1 && w.what.kind == action_kind::sync_gradient && w.what.layer.value == 0)
      w.time = {w.time.start + 20, w.time.end + 20};
  for (const transport t : sample::transports) {
    const auto found = find_fault(lower(f, {.transport = t}));
    CHECK_MESSAGE(!found, (found ? found->sentence : ""));
  }
}

TEST_CASE("lower: actions that take no time") {
  for (const uniform_cost costs : {uniform_cost{.forward = 0, .backward = 0}, uniform_cost{.forward = 0, .backward = 2},
                                   uniform_cost{.forward = 1, .backward = 0}})
    for (const transport t : sample::transports)
      for (std::int32_t m = 1; m < 7; ++m) {
        for (const plan& p :
             {lower(simulate(schemes::one_f_one_b{}, {.devices = 4, .microbatches = m}, costs), {.transport = t}),
              lower(simulate(schemes::interleaved_one_f_one_b{}, {.devices = 3, .microbatches = m, .chunks = 2}, costs),
                    {.transport = t}),
              lower(simulate(schemes::looped_bfs{}, {.devices = 2, .microbatches = m, .chunks = 3}, costs),
                    {.transport = t}),
              lower(simulate(schemes::chimera{}, {.devices = 4, .microbatches = m}, costs), {.transport = t})}) {
          CAPTURE(name_of(t));
          const auto found = find_fault(p);
          CHECK_MESSAGE(!found, (found ? found->sentence : ""));
        }
      }
}

#if BRIM_HAS_EXCEPTIONS
TEST_CASE("lower: refuses what is no timeline") {
  timeline t = small(2, 2);
  t.program.actions[0].stage = stage_index(7);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(lower(t)),
      "lower: 1f1b: an action of the timeline is outside of its shape or on a device that does not hold its stage",
      error);
  t = small(2, 2);
  t.times.pop_back();
  CHECK_THROWS_WITH_AS(static_cast<void>(lower(t)), "lower: 1f1b: the timeline's arrays do not fit its shape", error);
  filled f = sample::two_step_cycle(schemes::gpipe{}, {.devices = 2, .microbatches = 2});
  CHECK_THROWS_WITH_AS(static_cast<void>(lower(f, {.replica = 1})), "lower: there is no replica 1 of 1", error);
  f.work[0].step = 2;
  CHECK_THROWS_WITH_AS(static_cast<void>(lower(f)), "lower: gpipe: second-order work is outside of the filled steps",
                       error);
  f = sample::two_step_cycle(schemes::gpipe{}, {.devices = 2, .microbatches = 2});
  f.cycle_length = 0;
  CHECK_THROWS_AS(static_cast<void>(lower(f)), error);
}
#endif

namespace {

struct worst_ratio {
  double others = 1, blocking = 1;
  int plans = 0;
};

/// Every plan of the grid is right and takes as long as its timeline, whatever the transport; `blocking` may be slower.
template <class Scheme>
worst_ratio grid(const Scheme& scheme) {
  worst_ratio worst;
  for (std::int32_t p = 1; p <= 8; ++p)
    for (std::int32_t v = 1; v <= 4; ++v)
      for (std::int32_t m = 1; m <= 20; ++m) {
        const pipeline_shape shape{.devices = p, .microbatches = m, .chunks = v};
        if (!refusal_of(scheme, shape).empty()) continue;
        const uniform_cost costs{};
        const timeline t = simulate(scheme, shape, costs);
        for (const transport how : sample::transports) {
          const plan made = lower(t, {.transport = how});
          const double ratio = static_cast<double>(replay_length(made, costs)) / static_cast<double>(makespan(t));
          double& place = how == transport::blocking ? worst.blocking : worst.others;
          place = std::max(place, ratio);
          ++worst.plans;
        }
      }
  return worst;
}

}  // namespace

TEST_CASE("lower: the time-ordered transfers cost nothing and never deadlock") {
  const auto check = [](const worst_ratio& w, double blocking, int plans) {
    CHECK(w.others == 1.0);
    CHECK(w.blocking <= blocking);
    CHECK(w.plans == plans);
  };
  check(grid(schemes::gpipe{}), 1.0, 800);
  check(grid(schemes::one_f_one_b{}), 1.0, 800);
  check(grid(schemes::interleaved_one_f_one_b{}), 1.45, 3200);
  check(grid(schemes::looped_bfs{}), 1.0, 3200);
  check(grid(schemes::chimera{}), 1.0, 400);
}

TEST_CASE("replay_length: transfers that take time") {
  // One microbatch through two stages: forward, transfer, forward, backward, transfer, backward.
  const uniform_cost slow{.forward = 10, .backward = 20, .transfer_time = 3};
  const timeline t = simulate(schemes::gpipe{}, {.devices = 2, .microbatches = 1}, slow);
  for (const transport how : sample::transports) {
    CHECK(replay_length(lower(t, {.transport = how}), slow) == 66);
    CHECK(replay_length(lower(t, {.transport = how})) == 60);
  }
  // Two microbatches: a blocked sender cannot compute while it sends.
  const timeline two = simulate(schemes::gpipe{}, {.devices = 2, .microbatches = 2}, slow);
  CHECK(replay_length(lower(two, {.transport = transport::buffered}), slow) == makespan(two));
  CHECK(replay_length(lower(two, {.transport = transport::one_queue}), slow) == makespan(two));
  CHECK(replay_length(lower(two, {.transport = transport::blocking}), slow) > makespan(two));
}

TEST_CASE("replay_length: a filled cycle takes its steps") {
  const filled f = sample::two_step_cycle(schemes::one_f_one_b{}, {.devices = 4, .microbatches = 4});
  const plan p = lower(f);
  CHECK(replay_length(p) <= 2 * f.step_length);
  CHECK(replay_length(p) > 2 * makespan(f.pipeline));
}
