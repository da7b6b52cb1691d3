// SPDX-License-Identifier: Apache-2.0
#include "sample.hpp"

#include <brim/brim.hpp>
#include <brim/plan/lower.hpp>
#include <brim/plan/verify.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace brim;
using sample::position;

namespace {

plan pipeline_plan(transport t = transport::one_queue) {
  return lower(simulate(schemes::one_f_one_b{}, {.devices = 2, .microbatches = 3}, uniform_cost{}), {.transport = t});
}
/// Chimera, so that the sums of statistics join two devices.
plan filled_plan(transport t = transport::one_queue) {
  return lower(sample::two_step_cycle(schemes::chimera{}, {.devices = 2, .microbatches = 4}), {.transport = t});
}
plan single_plan() { return lower(sample::two_step_cycle(schemes::gpipe{}, {.devices = 1, .microbatches = 2})); }

/// The same program without times, for edits of the program alone.
plan untimed(plan p) {
  p.timeline.clear();
  return p;
}

void refused(const plan& p, const std::string& sentence, error_code code = error_code::bad_plan) {
  const auto found = find_fault(p);
  REQUIRE(found);
  CHECK(found->code == code);
  INFO(found->sentence);
  CHECK(found->sentence.find(sentence) != std::string::npos);
}

std::size_t second_order(const plan& p, action_kind kind, std::int32_t layer, std::int32_t piece = 0) {
  return position(
      p, [=](const instruction& i) { return i.what.kind == kind && i.what.layer.value == layer && i.piece == piece; });
}

}  // namespace

TEST_CASE("verify: right plans pass") {
  for (const transport t : sample::transports) {
    CHECK(!find_fault(pipeline_plan(t)));
    CHECK(!find_fault(filled_plan(t)));
    CHECK(!find_fault(untimed(filled_plan(t))));
  }
  CHECK(!find_fault(single_plan()));
  verify(pipeline_plan());
}

#if BRIM_HAS_EXCEPTIONS
TEST_CASE("verify: throws what find_fault finds") {
  plan p = pipeline_plan();
  p.steps = 0;
  try {
    verify(p);
    FAIL("it has to throw");
  } catch (const error& e) {
    CHECK(e.code() == error_code::bad_plan);
    CHECK(std::string(e.what()) == "plan 1f1b: it covers 0 steps; expected at least 1");
  }
}
#endif

TEST_CASE("verify: head and placement") {
  plan p = pipeline_plan();
  p.shape.devices = 0;
  refused(p, "the shape is impossible");
  p = pipeline_plan();
  p.steps = 1 << 30;
  refused(p, "too few for 1073741824 steps");
  p = pipeline_plan();
  p.shape.microbatches = 1 << 30;
  refused(p, "too few");
  p = pipeline_plan();
  p.step_length = -1;
  refused(p, "step_length is -1");
  p = pipeline_plan();
  p.replica = 1;
  refused(p, "replica 1 of 1");
  p = pipeline_plan();
  p.transport = static_cast<transport>(9);
  refused(p, "the transport is unknown");
  p = pipeline_plan();
  p.events = 1 << 30;
  refused(p, "events");
  p = pipeline_plan();
  p.where.devices = 3;
  refused(p, "the placement has 3 devices");
  p = pipeline_plan();
  p.where.holders.pop_back();
  refused(p, "lists 1 holders");
  p = pipeline_plan();
  p.where.holders[0] = device_index(5);
  refused(p, "names device 5");
  p = pipeline_plan();
  p.where.routes = 0;
  refused(p, "0 routes");
  p = pipeline_plan();
  p.shape.devices = p.where.devices = 1000;
  refused(p, "every device needs its compute stream");
}

TEST_CASE("verify: streams") {
  plan p = pipeline_plan();
  p.streams[1].begin += 1;
  refused(p, "its range does not follow");
  p = pipeline_plan();
  p.streams.back().end += 1;
  refused(p, "its range does not follow");
  p = pipeline_plan();
  p.streams.back().end -= 1;
  refused(p, "do not cover all instructions");
  p = pipeline_plan();
  p.streams[1].kind = static_cast<stream_kind>(77);
  refused(p, "its kind is unknown");
  p = pipeline_plan();
  p.streams[1].kind = stream_kind::gradient;
  refused(p, "no such queue");
  p = pipeline_plan();
  p.streams[1].kind = stream_kind::compute;
  refused(p, "one compute stream for each device");
  p = pipeline_plan();
  p.streams[2].device = device_index(0);
  refused(p, "one compute stream for each device");
  p = pipeline_plan();
  p.streams[1].device = device_index(1);
  refused(p, "has to follow the compute stream of its device");
  p = pipeline_plan();
  p.streams.insert(p.streams.begin() + 1, stream{device_index(0), stream_kind::communication, device_index(-1),
                                                 p.streams[0].end, p.streams[0].end});
  refused(p, "has a queue twice");
  p = pipeline_plan(transport::queue_per_edge);
  p.streams[1].peer = device_index(0);
  refused(p, "its peer is impossible");
  p = pipeline_plan();
  p.streams[1].peer = device_index(1);
  refused(p, "its peer is impossible");
  p = pipeline_plan();
  p.streams.resize(2);
  p.instructions.resize(p.streams[1].end);
  refused(p, "device 1 has no compute stream");
}

TEST_CASE("verify: indices of an instruction") {
  const auto edited = [](auto edit, std::size_t at = 0) {
    plan p = untimed(pipeline_plan());
    edit(p.instructions[at]);
    return p;
  };
  refused(edited([](auto& i) { i.what.kind = static_cast<action_kind>(99); }), "its kind is unknown");
  refused(edited([](auto& i) { i.what.stage = stage_index(2); }), "there is no such stage");
  refused(edited([](auto& i) { i.what.stage = stage_index(-1); }), "there is no such stage");
  refused(edited([](auto& i) { i.what.stage = stage_index(1); }), "another device holds this stage");
  refused(edited([](auto& i) { i.what.microbatch = microbatch_index(3); }), "there is no such microbatch");
  refused(edited([](auto& i) { i.what.microbatch = microbatch_index(-1); }), "there is no such microbatch");
  refused(edited([](auto& i) { i.what.route = route_index(1); }), "the microbatch takes another route");
  refused(edited([](auto& i) { i.step = 1; }), "there is no such step");
  refused(edited([](auto& i) { i.origin_step = -1; }), "origin_step has to be its step");
  refused(edited([](auto& i) { i.what.layer = layer_index(0); }), "neither layer, side nor pieces");
  refused(edited([](auto& i) { i.pieces = 2; }), "neither layer, side nor pieces");
  refused(edited([](auto& i) { i.tag = 4; }), "only communication has a tag");
  refused(edited([](auto& i) { i.peer = device_index(1); }), "only communication has a tag or a peer");
  refused(edited([](auto& i) { i.what.kind = action_kind::send_activation; }), "it does not belong on this stream");
  refused(edited([](auto& i) { i.records = event_index(1 << 20); }), "it records event 1048576");
  refused(edited([](auto& i) { i.records = event_index(-7); }), "it records event -7");

  plan p = untimed(filled_plan());
  p.instructions[position(p, action_kind::statistic)].what.side = static_cast<side>(9);
  refused(p, "its side is unknown");
  p = untimed(filled_plan());
  p.instructions[position(p, action_kind::statistic)].piece = 2;
  refused(p, "there is no such piece");
  p = untimed(filled_plan());
  p.instructions[position(p, action_kind::statistic)].origin_step = 1;
  refused(p, "it runs before the step of its statistics");
  p = untimed(filled_plan());
  p.instructions[position(p, action_kind::precondition)].what.layer = layer_index(-2);
  refused(p, "there is no such layer");
  p = untimed(filled_plan());
  p.instructions[position(p, action_kind::sync_gradient)].tag = -1;
  refused(p, "it needs a tag");
  p = untimed(filled_plan());
  p.instructions[position(p, action_kind::statistic)].what.route = route_index(2);
  refused(p, "there is no such route");
  p = untimed(filled_plan());
  p.instructions[position(p, action_kind::statistic)].peer = device_index(1);
  refused(p, "only transfers have a peer");
}

TEST_CASE("verify: an action dropped, twice, or out of order") {
  plan p = untimed(pipeline_plan(transport::blocking));
  sample::drop(p, position(p, action_kind::backward));
  refused(p, "has no backward");
  p = untimed(pipeline_plan(transport::blocking));
  sample::drop(p, position(p, action_kind::forward, 4));
  refused(p, "has no forward");
  p = untimed(pipeline_plan());
  sample::duplicate(p, 0);
  refused(p, "it stands in the plan twice");
  p = untimed(pipeline_plan(transport::blocking));
  p.instructions[position(p, action_kind::forward, 1)].what.microbatch = microbatch_index(0);
  refused(p, "it stands in the plan twice");
  p = untimed(single_plan());
  sample::exchange(p, 0, position(p, action_kind::backward));
  refused(p, "it stands before its own forward");
  // Two stages on one device: the second stage's forward needs the first one's.
  p = untimed(lower(simulate(schemes::looped_bfs{}, {.devices = 1, .microbatches = 1, .chunks = 2}, uniform_cost{})));
  sample::exchange(p, 0, 1);
  refused(p, "it does not wait for forward stage 0 microbatch 0");
}

TEST_CASE("verify: split backwards") {
  const auto split = [](bool weight_first) {
    plan p = untimed(single_plan());
    p = untimed(lower(simulate(schemes::gpipe{}, {.devices = 1, .microbatches = 1}, uniform_cost{})));
    sample::duplicate(p, 1);
    p.instructions[weight_first ? 2 : 1].what.kind = action_kind::backward_input;
    p.instructions[weight_first ? 1 : 2].what.kind = action_kind::backward_weight;
    return p;
  };
  CHECK(!find_fault(split(false)));
  refused(split(true), "it stands before its own backward_input");
  plan p = split(false);
  sample::drop(p, 2);
  refused(p, "has no backward_weight");
  p = split(false);
  p.instructions[1].what.kind = action_kind::backward;
  refused(p, "has no backward_input");
  p = split(false);
  sample::duplicate(p, 0);
  p.instructions[1].what.kind = action_kind::recompute;
  CHECK(!find_fault(p));
  sample::exchange(p, 0, 1);
  refused(p, "it stands before its own forward");
  sample::exchange(p, 0, 1);
  sample::exchange(p, 1, 2);
  refused(p, "it stands behind its own backward");
}

TEST_CASE("verify: transfers") {
  plan p = untimed(pipeline_plan());
  p.instructions[position(p, action_kind::send_activation)].tag += 1;
  refused(p, "its tag is");
  p = untimed(pipeline_plan());
  p.instructions[position(p, action_kind::send_activation)].peer = device_index(0);
  refused(p, "its peer does not hold the stage at the other end");
  p = untimed(pipeline_plan());
  p.instructions[position(p, action_kind::send_activation)].tag = -1;
  refused(p, "it needs a tag");
  p = untimed(pipeline_plan());
  sample::drop(p, position(p, action_kind::recv_activation));
  refused(p, "nothing receives it on device 1");
  p = untimed(pipeline_plan(transport::blocking));
  sample::drop(p, position(p, action_kind::recv_activation));
  refused(p, "nothing receives it on device 1");
  p = untimed(pipeline_plan(transport::blocking));
  sample::drop(p, position(p, action_kind::send_gradient));
  refused(p, "nothing sends it on device 1");
  p = untimed(pipeline_plan());
  sample::duplicate(p, position(p, action_kind::recv_activation));
  refused(p, "it stands in the plan twice");
  p = untimed(pipeline_plan());
  p.instructions[position(p, action_kind::send_activation)].what.kind = action_kind::send_gradient;
  refused(p, "there is no stage at the other end");
  p = untimed(pipeline_plan());
  p.instructions[position(p, action_kind::send_activation)].what.microbatch = microbatch_index(2);
  refused(p, "twice");
  // Both stages on one device need no transfer.
  p = untimed(lower(simulate(schemes::looped_bfs{}, {.devices = 1, .microbatches = 1, .chunks = 2}, uniform_cost{}),
                    {.transport = transport::blocking}));
  sample::duplicate(p, 0);
  p.instructions[1].what.kind = action_kind::send_activation;
  p.instructions[1].tag = 0;
  p.instructions[1].peer = device_index(0);
  refused(p, "both stages are on this device");
  // A queue is for one peer.
  p = untimed(lower(simulate(schemes::gpipe{}, {.devices = 3, .microbatches = 1}, uniform_cost{}),
                    {.transport = transport::queue_per_edge}));
  std::swap(p.streams[position(p, action_kind::send_gradient) == 0 ? 0 : 4].peer, p.streams[6].peer);
  refused(p, "it does not belong in the queue of this peer");
}

TEST_CASE("verify: receives in another order than sends") {
  for (const transport t : sample::transports) {
    plan p = untimed(pipeline_plan(t));
    sample::exchange(p, position(p, action_kind::send_activation, 0), position(p, action_kind::send_activation, 1));
    if (t == transport::blocking) {
      refused(p, "it does not wait for forward stage 0 microbatch 1");
      continue;
    }
    // Let the first send wait for both forwards, so that only the order of the messages is wrong.
    for (instruction& i : p.instructions)
      if (i.what.kind == action_kind::send_activation && i.what.microbatch.value == 1)
        p.waits[i.first_wait] = p.instructions[position(p, action_kind::forward, 1)].records;
    refused(p, "which is received first");
  }
}

TEST_CASE("verify: events") {
  plan p = pipeline_plan();
  sample::drop_wait(p, position(p, action_kind::send_activation), 0);
  refused(p, "it does not wait for forward stage 0 microbatch 0 (device 0 compute)");
  p = pipeline_plan();
  sample::drop_wait(p, position(p, action_kind::backward), 0);
  refused(p, "it does not wait for recv_gradient stage 0 microbatch 0 (device 0 communication)");
  p = pipeline_plan();
  p.waits[0] = event_index(p.events);
  refused(p, "it waits for event");
  p = pipeline_plan();
  p.waits[0] = event_index(-1);
  refused(p, "it waits for event -1");
  p = pipeline_plan();
  p.waits[0] = p.instructions[position(p, action_kind::recv_activation)].records;
  refused(p, "of another device");
  p = pipeline_plan();
  p.instructions[position(p, action_kind::forward)].records = event_index(-1);
  refused(p, "which nobody records");
  p = pipeline_plan();
  p.instructions[position(p, action_kind::forward)].records =
      p.instructions[position(p, action_kind::forward, 1)].records;
  refused(p, "is recorded twice");
  p = pipeline_plan();
  p.instructions.back().first_wait += 1;
  refused(p, "its waits do not follow");
  p = pipeline_plan();
  p.instructions.back().wait_count = 0xffffffffU;
  refused(p, "its waits do not follow");
  p = pipeline_plan();
  p.waits.push_back(event_index(0));
  refused(p, "waits, the instructions have");
  // More waits than needed are no fault.
  p = pipeline_plan();
  sample::add_wait(p, p.streams[0].end - 1, p.instructions[position(p, action_kind::recv_gradient)].records);
  CHECK(!find_fault(p));
}

TEST_CASE("verify: an event cycle is a deadlock") {
  plan p = pipeline_plan();
  const std::size_t first = position(p, action_kind::forward);
  const std::size_t receive = position(p, action_kind::recv_gradient);
  sample::add_wait(p, first, p.instructions[receive].records);
  refused(p, "deadlock with transport one_queue: device 0 compute cannot start forward stage 0 microbatch 0",
          error_code::deadlock);
  refused(p, "waits for recv_gradient stage 0 microbatch 0 (device 0 communication)", error_code::deadlock);
  p = pipeline_plan();
  sample::add_wait(p, 0, p.instructions[0].records);  // for itself
  refused(p, "deadlock", error_code::deadlock);
}

TEST_CASE("verify: statistics") {
  // Premature: before its own microbatch's forward, or backward.
  for (const side sd : {side::a, side::b}) {
    plan p = untimed(single_plan());
    const std::size_t at =
        position(p, [sd](const instruction& i) { return i.what.kind == action_kind::statistic && i.what.side == sd; });
    sample::move(p, at, sd == side::a ? 0 : position(p, action_kind::backward));
    refused(p, sd == side::a ? "it does not wait for forward stage 0 microbatch 0"
                             : "it does not wait for backward stage 0 microbatch 0");
  }
  // On another device, or of a microbatch of the other route.
  plan p = untimed(filled_plan());
  p.instructions[position(p, action_kind::statistic)].what.stage.value ^= 1;
  refused(p, "another device holds this stage");
  p = untimed(filled_plan());
  p.instructions[position(p, action_kind::statistic)].what.microbatch.value ^= 1;
  refused(p, "the microbatch takes another route");
  // Twice, a piece missing, pieces in the wrong order.
  p = untimed(single_plan());
  sample::duplicate(p, position(p, action_kind::statistic));
  refused(p, "it stands in the plan twice");
  p = untimed(single_plan());
  sample::drop(p, second_order(p, action_kind::statistic, 0, 1));
  refused(p, "a piece of the same item is missing");
  p = untimed(single_plan());
  sample::exchange(p, second_order(p, action_kind::statistic, 0, 0), second_order(p, action_kind::statistic, 0, 1));
  refused(p, "it stands before an earlier piece of the same item");
  p = untimed(single_plan());
  p.instructions[second_order(p, action_kind::statistic, 0, 1)].pieces = 3;
  refused(p, "another piece of it says 2 pieces");
}

TEST_CASE("verify: refreshes") {
  // A statistic is missing altogether.
  plan p = untimed(single_plan());
  sample::drop(p, second_order(p, action_kind::statistic, 1));
  refused(p, "it needs the statistics of 2 microbatches of step -1 on this device, the plan has 1");
  // Before its last statistic.
  p = untimed(single_plan());
  std::size_t last = 0;
  for (std::size_t i = 0; i < p.instructions.size(); ++i)
    if (p.instructions[i].what.kind == action_kind::statistic && p.instructions[i].step == 0) last = i;
  sample::exchange(p, last, position(p, [&](const instruction& i) {
                     return i.what.kind == action_kind::refresh && i.what.layer.value == 0 && i.what.side == side::b;
                   }));
  refused(p, "it does not wait for statistic stage 0 microbatch 1 layer 0 side b piece 1 of 2");
  // Mixed: one that says it belongs to another cycle than its statistics.
  p = untimed(single_plan());
  p.instructions[second_order(p, action_kind::refresh, 1)].origin_step = 0;
  refused(p, "it needs the statistics of 2 microbatches of step 0 on this device, the plan has 0");
  p = untimed(single_plan());
  p.instructions[second_order(p, action_kind::statistic, 1)].origin_step = -1;
  p.instructions[second_order(p, action_kind::statistic, 1)].step = 0;
  refused(p, "it stands behind an entry of step 1");
  // In the repetition before its statistics: they are of step 1, and it claims to use them in step 0 of the same one.
  p = untimed(single_plan());
  for (instruction& i : p.instructions)
    if (i.what.kind == action_kind::statistic && i.what.layer.value == 1) i.origin_step = -1;
  refused(p, "it does not wait for statistic");
  // Divided in pieces: one missing, or in the wrong order.
  p = untimed(single_plan());
  sample::drop(p, second_order(p, action_kind::refresh, 0, 1));
  refused(p, "a piece of the same item is missing");
  p = untimed(single_plan());
  std::swap(p.instructions[second_order(p, action_kind::refresh, 0, 0)].piece,
            p.instructions[second_order(p, action_kind::refresh, 0, 1)].piece);
  refused(p, "it stands before an earlier piece of the same item");
  // Divided among the holders is right; two halves by one device and nothing by the other, too.
  p = untimed(filled_plan(transport::blocking));
  const auto half = [](std::int32_t device, std::int32_t piece) {
    return [=](const instruction& i) {
      return i.what.kind == action_kind::refresh && i.what.layer.value == 0 && i.what.side == side::a &&
             i.what.stage.value == 0 && i.what.route.value == device && i.piece == piece;
    };
  };
  sample::drop(p, position(p, half(0, 1)));
  refused(p, "a piece of the same item is missing");
}

TEST_CASE("verify: sums and exchanges") {
  const auto holds = [](action_kind kind, std::int32_t layer) {
    return [=](const instruction& i) { return i.what.kind == kind && i.what.layer.value == layer; };
  };
  for (const transport t : sample::transports) {
    if (t == transport::blocking) continue;  // no events
    CAPTURE(name_of(t));
    // A refresh of step 0 does not wait for the sum of its statistics.
    plan p = filled_plan(t);
    std::size_t at = position(p, [](const instruction& i) {
      return i.what.kind == action_kind::refresh && i.what.layer.value == 0 && i.wait_count > 0;
    });
    sample::drop_wait(p, at, 0);
    refused(p, "it does not wait for sync_statistic");
    // A sum does not wait for the statistics.
    p = filled_plan(t);
    at = position(p,
                  [](const instruction& i) { return i.what.kind == action_kind::sync_statistic && i.wait_count > 0; });
    sample::drop_wait(p, at, 0);
    refused(p, "it does not wait for statistic");
    // An exchange does not wait for the refresh.
    p = filled_plan(t);
    at = position(p, [](const instruction& i) { return i.what.kind == action_kind::sync_refresh && i.wait_count > 0; });
    sample::drop_wait(p, at, 0);
    refused(p, "it does not wait for refresh");
    // What uses the gradient does not wait for its sum.
    p = filled_plan(t);
    at = position(p, [](const instruction& i) { return i.what.kind == action_kind::precondition && i.wait_count > 0; });
    sample::drop_wait(p, at, 0);
    refused(p, "it does not wait for sync_");
  }
  // A member is missing, or there twice, or has another tag.
  plan p = untimed(filled_plan(transport::blocking));
  sample::drop(p, position(p, holds(action_kind::sync_statistic, 0)));
  refused(p, "2 devices have to take part in it, 1 do");
  p = untimed(filled_plan(transport::blocking));
  sample::duplicate(p, position(p, holds(action_kind::sync_refresh, 0)));
  refused(p, "it stands in the plan twice");
  p = untimed(filled_plan(transport::blocking));
  p.instructions[position(p, holds(action_kind::sync_refresh, 1))].tag += 1;
  refused(p, "its tag is");
}

TEST_CASE("verify: collectives in another order on one member are a deadlock") {
  plan p = untimed(filled_plan(transport::blocking));
  const std::size_t first = position(p, action_kind::sync_refresh, 0),
                    second = position(p, action_kind::sync_refresh, 1);
  REQUIRE(p.instructions[first].what.layer == p.instructions[second].what.layer);
  sample::exchange(p, first, second);
  refused(p, "deadlock with transport blocking", error_code::deadlock);
}

TEST_CASE("verify: the end of a step") {
  plan p = untimed(single_plan());
  sample::exchange(p, position(p, action_kind::backward), position(p, action_kind::precondition));
  CHECK(find_fault(p));
  p = untimed(single_plan());
  sample::duplicate(p, position(p, action_kind::precondition));
  refused(p, "it stands in the plan twice");
  p = untimed(single_plan());
  sample::exchange(p, position(p, action_kind::precondition), position(p, action_kind::optimizer_step));
  refused(p, "optimizer_step stage 0 step 0: it does not wait for precondition stage 0 layer 0 step 0");
  // An update before the last backward of its step.
  p = untimed(lower(simulate(schemes::gpipe{}, {.devices = 1, .microbatches = 2}, uniform_cost{})));
  sample::duplicate(p, 2);
  p.instructions[3].what = {action_kind::optimizer_step, side::none,     route_index(0), stage_index(0),
                            microbatch_index(-1),        layer_index(-1)};
  refused(p, "optimizer_step stage 0: it does not wait for backward stage 0 microbatch");
  sample::exchange(p, 3, 4);
  CHECK(!find_fault(p));
  // The exchange of a layer's result follows its precondition, and the update follows the exchange.
  plan q = filled_plan();
  const auto exchange = [](const instruction& i) {
    return i.what.kind == action_kind::sync_gradient && i.what.layer.value == 0;
  };
  sample::drop_wait(q, position(q, exchange), 0);
  refused(q, "it does not wait for precondition");
  q = filled_plan();
  sample::drop_wait(q, position(q, action_kind::optimizer_step), 0);
  refused(q, "it does not wait for sync_gradient");
  // The sum of the gradient waits for the last backward: here the last that nobody else on its device waits for.
  q = untimed(filled_plan());
  const std::size_t sum =
      position(q, [](const instruction& i) { return i.what.kind == action_kind::sync_gradient && i.wait_count > 0; });
  if (sum < q.instructions.size()) {
    sample::drop_wait(q, sum, 0);
    CHECK(find_fault(q));
  }
}

TEST_CASE("verify: work does not start before the collective that it needs is over") {
  filled f = sample::two_step_cycle(schemes::chimera{}, {.devices = 2, .microbatches = 4});
  for (placed_work& w : f.work)
    if (w.what.kind == action_kind::sync_statistic && w.device.value == 0) w.time.end += 300;
  refused(lower(f), "by the timeline it starts at");
}

TEST_CASE("verify: a norm over all devices") {
  const auto make = [] {
    filled f = sample::two_step_cycle(schemes::gpipe{}, {.devices = 2, .microbatches = 2});
    for (std::int32_t d = 0; d < 2; ++d) {
      ticks at = 0;
      for (placed_work& w : f.tail)
        if (w.device.value == d && w.what.kind == action_kind::optimizer_step) at = w.time.start;
      f.tail.push_back(
          {{action_kind::sync_norm, side::none, route_index(0), stage_index(-1), microbatch_index(-1), layer_index(-1)},
           device_index(d),
           0,
           0,
           0,
           0,
           1,
           {at, at}});
    }
    return f;
  };
  for (const transport t : sample::transports) {
    const plan p = lower(make(), {.transport = t});
    const auto found = find_fault(p);
    CHECK_MESSAGE(!found, (found ? found->sentence : ""));
  }
  plan p = lower(make());
  sample::drop_wait(p, position(p, action_kind::sync_norm), 0);
  refused(p, "it does not wait for precondition");
  p = lower(make());
  sample::drop_wait(p, position(p, action_kind::optimizer_step), 0);
  refused(p, "it does not wait for sync_norm");
  p = lower(make());
  p.instructions[position(p, action_kind::sync_norm)].what.stage = stage_index(0);
  refused(p, "a norm belongs to no stage");
}

TEST_CASE("verify: the timeline says the same as the program") {
  const auto edited = [](auto edit, std::size_t at = 0) {
    plan p = pipeline_plan();
    edit(p.timeline[at]);
    return p;
  };
  refused(edited([](auto& a) { a.time.end = -1; }), "its times are impossible");
  refused(edited([](auto& a) { a.time = {5, 4}; }), "its times are impossible");
  refused(edited([](auto& a) {
            a.time.end = ticks{1} << 62;
            a.time.end += ticks{1} << 61;
          }),
          "its times are impossible");
  refused(edited([](auto& a) { a.step = 1; }), "it starts before its step");
  refused(edited([](auto& a) { a.step = -1; }), "it starts before its step");
  refused(edited([](auto& a) { a.time.end += 2; }), "the device is busy until 3");
  refused(edited([](auto& a) { a.device = device_index(1); }, 3), "");
  refused(edited([](auto& a) { a.what.microbatch = microbatch_index(1); }),
          "the compute stream has forward stage 0 microbatch 0 in its place");
  refused(edited([](auto& a) { a.piece = 1; }), "in its place");
  refused(edited([](auto& a) { a.what.kind = static_cast<action_kind>(200); }), "in its place");
  plan p = pipeline_plan();
  p.timeline.pop_back();
  refused(p, "the timeline has no entry for it");
  p = pipeline_plan();
  p.timeline.push_back(p.timeline.back());
  refused(p, "no entry left for it");
  p = pipeline_plan();
  p.timeline.push_back(p.timeline.front());
  refused(p, "does not stand with its device");
  p = pipeline_plan();
  p.step_length -= 1;
  refused(p, "longer than 1 steps");
  // The input comes later on the other device.
  p = pipeline_plan();
  for (timed_action& a : p.timeline)
    if (a.device.value == 0) a.time = {a.time.start + 5, a.time.end + 5};
  refused(p, "its input comes later");
  p = pipeline_plan();
  for (timed_action& a : p.timeline)
    if (a.device.value == 1) a.time = {a.time.start + 5, a.time.end + 5};
  p.step_length += 5;
  refused(p, "its input comes later");
  // Collectives.
  p = filled_plan();
  std::erase_if(p.timeline, [](const timed_action& a) {
    return a.what.kind == action_kind::sync_gradient && a.step == 1 && a.device.value == 1;
  });
  refused(p, "the timeline has no entry for it");
  p = filled_plan();
  for (timed_action& a : p.timeline)
    if (a.what.kind == action_kind::sync_gradient) a.what.layer = layer_index(-2);
  refused(p, "no stream has an entry for it");
  p = pipeline_plan();
  p.metrics.spans.push_back(1);
  refused(p, "one value for each device");
}

TEST_CASE("verify: memory") {
  const plan p = pipeline_plan();
  const uniform_memory memory{.activation = 10, .weights = 100};
  CHECK(peak_memory(p, memory) == std::vector<bytes>{120, 110});
  const std::vector<bytes> enough{120}, each{120, 110}, little{120, 109}, none{0, 0}, empty;
  verify(p, memory, enough);
  verify(p, memory, each);
  verify(p, memory, none);
  verify(p, memory, empty);
  const auto found = find_fault(p, memory, little);
  REQUIRE(found);
  CHECK(found->code == error_code::over_memory);
  CHECK(found->site.device == 1);
  CHECK(found->sentence == "plan 1f1b: device 1 needs 110 bytes at its peak, its limit is 109 bytes");
#if BRIM_HAS_EXCEPTIONS
  CHECK_THROWS_AS(verify(p, memory, little), error);
#endif
  CHECK(peak_memory(p, memory) ==
        peak_memory(simulate(schemes::one_f_one_b{}, {.devices = 2, .microbatches = 3}, uniform_cost{}), memory));
}
