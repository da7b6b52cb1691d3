// SPDX-License-Identifier: Apache-2.0
#include <brim/brim.hpp>
#include <brim/plan/verify.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace brim;

namespace {

/// A plan without times from one row of words for each device: `f` forward, `b` backward, `s` and `r` send and receive of
/// the activation, `t` and `q` of the gradient; each with stage and microbatch. Two devices, stage `s` on device `s mod 2`.
plan from_rows(const std::vector<std::string_view>& rows, std::int32_t stages, std::int32_t microbatches,
               transport how) {
  plan p;
  p.scheme = "by hand";
  p.shape = {.devices = 2, .microbatches = microbatches, .chunks = stages / 2};
  p.where = looped(p.shape);
  p.transport = how;
  for (std::size_t d = 0; d < rows.size(); ++d) {
    std::vector<instruction> compute, queue;
    std::string_view row = rows[d];
    while (row.size() >= 3) {
      instruction i;
      const int stage = row[1] - '0', microbatch = row[2] - '0';
      i.what = {action_kind::forward,         side::none,     route_index(0), stage_index(stage),
                microbatch_index(microbatch), layer_index(-1)};
      switch (row[0]) {
        case 'f': break;
        case 'b': i.what.kind = action_kind::backward; break;
        case 's': i.what.kind = action_kind::send_activation; break;
        case 'r': i.what.kind = action_kind::recv_activation; break;
        case 't': i.what.kind = action_kind::send_gradient; break;
        default: i.what.kind = action_kind::recv_gradient;
      }
      if (is_communication(i.what.kind)) {
        const bool up = row[0] == 's' || row[0] == 'q';
        i.peer = device_index(1 - static_cast<int>(d));
        i.tag = 2 * ((up ? stage : stage - 1) * microbatches + microbatch) + (row[0] == 't' || row[0] == 'q');
      }
      (is_communication(i.what.kind) && how != transport::blocking ? queue : compute).push_back(i);
      row.remove_prefix(row.size() > 3 ? 4 : 3);
    }
    // An event for everything that the other stream could wait for.
    const auto find = [](std::vector<instruction>& in, action_kind kind, const action& a) -> instruction* {
      for (instruction& i : in)
        if (i.what.kind == kind && i.what.stage == a.stage && i.what.microbatch == a.microbatch) return &i;
      return nullptr;
    };
    const auto connect = [&](std::vector<instruction>& stream, std::vector<instruction>& other) {
      for (instruction& i : stream) {
        instruction* source = nullptr;
        switch (i.what.kind) {
          case action_kind::forward: source = find(other, action_kind::recv_activation, i.what); break;
          case action_kind::backward: source = find(other, action_kind::recv_gradient, i.what); break;
          case action_kind::send_activation: source = find(other, action_kind::forward, i.what); break;
          case action_kind::send_gradient: source = find(other, action_kind::backward, i.what); break;
          default: break;
        }
        if (source == nullptr) continue;
        if (source->records.value < 0) source->records = event_index(p.events++);
        i.first_wait = static_cast<std::uint32_t>(p.waits.size());
        i.wait_count = 1;
        p.waits.push_back(source->records);
      }
    };
    connect(compute, queue);
    connect(queue, compute);
    for (const auto* part : {&compute, &queue}) {
      if (part == &queue && how == transport::blocking) continue;
      const auto begin = static_cast<std::uint32_t>(p.instructions.size());
      p.instructions.insert(p.instructions.end(), part->begin(), part->end());
      p.streams.push_back({device_index(static_cast<int>(d)),
                           part == &compute ? stream_kind::compute : stream_kind::communication, device_index(-1),
                           begin, static_cast<std::uint32_t>(p.instructions.size())});
    }
  }
  return p;
}

// Interleaved, two devices, two chunks, four microbatches, with every receive moved to just before its use: the order
// printed in PyTorch pull request 172833, which stopped on two machines (issue 172668).
const std::vector<std::string_view> deferred_receives{
    "f00 s00 f01 s01 r20 f20 s20 r21 f21 s21 f02 s02 q20 b20 t20 f03 s03 q21 b21 t21 r22 f22 s22 q00 b00 r23 f23 s23 "
    "q01 b01 q22 b22 "
    "t22 q23 b23 t23 q02 b02 q03 b03",
    "r10 f10 s10 r11 f11 s11 r30 f30 b30 t30 r31 f31 b31 t31 r12 f12 s12 q10 b10 t10 r13 f13 s13 q11 b11 t11 r32 f32 "
    "b32 t32 r33 f33 "
    "b33 t33 q12 b12 t12 q13 b13 t13"};

}  // namespace

TEST_CASE("deadlock: receives deferred to their use (PyTorch 172833)") {
  for (const transport how : {transport::one_queue, transport::blocking}) {
    const auto found = find_fault(from_rows(deferred_receives, 4, 4, how));
    REQUIRE(found);
    CHECK(found->code == error_code::deadlock);
    INFO(found->sentence);
    // Device 0 sends the activation of microbatch 1, device 1 that of microbatch 0: nobody receives.
    CHECK(found->sentence.find("[send_activation stage 0 microbatch 1]") != std::string::npos);
    CHECK(found->sentence.find("[send_activation stage 1 microbatch 0]") != std::string::npos);
  }
  const auto found = find_fault(from_rows(deferred_receives, 4, 4, transport::one_queue));
  CHECK(found->site.device == 0);
  CHECK(found->site.stage == 2);
  CHECK(found->sentence ==
        "plan by hand: deadlock with transport one_queue: device 0 compute cannot start forward stage 2 microbatch 0; "
        "every unfinished "
        "stream waits for another:\n"
        "  device 0 compute: ok forward stage 0 microbatch 0, ok forward stage 0 microbatch 1, [forward stage 2 "
        "microbatch 0], forward "
        "stage 2 microbatch 1, forward stage 0 microbatch 2  waits for recv_activation stage 2 microbatch 0 (device 0 "
        "communication)\n"
        "  device 0 communication: ok send_activation stage 0 microbatch 0, [send_activation stage 0 microbatch 1], "
        "recv_activation stage "
        "2 microbatch 0, send_activation stage 2 microbatch 0  waits for recv_activation stage 1 microbatch 1 (device "
        "1 communication)\n"
        "  device 1 compute: ok forward stage 1 microbatch 0, [forward stage 1 microbatch 1], forward stage 3 "
        "microbatch 0, backward stage "
        "3 microbatch 0  waits for recv_activation stage 1 microbatch 1 (device 1 communication)\n"
        "  device 1 communication: ok recv_activation stage 1 microbatch 0, [send_activation stage 1 microbatch 0], "
        "recv_activation stage "
        "1 microbatch 1, send_activation stage 1 microbatch 1  waits for recv_activation stage 2 microbatch 0 (device "
        "0 communication)");
}

TEST_CASE("deadlock: an order that works with blocking transfers") {
  // Sends and receives of one pair meet in the same order on both devices.
  const std::vector<std::string_view> rows{"f00 s00 f01 s01 q00 b00 q01 b01", "r10 f10 b10 r11 t10 f11 b11 t11"};
  CHECK(!find_fault(from_rows(rows, 2, 2, transport::one_queue)));
  CHECK(!find_fault(from_rows(rows, 2, 2, transport::blocking)));
  // One send earlier, and both devices send at once.
  const std::vector<std::string_view> crossed{"f00 s00 f01 s01 q00 b00 q01 b01", "r10 f10 b10 t10 r11 f11 b11 t11"};
  const auto found = find_fault(from_rows(crossed, 2, 2, transport::blocking));
  REQUIRE(found);
  CHECK(found->code == error_code::deadlock);
}
