// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/plan/plan_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brim::detail {

/// The first check: every number is in its range and every array fits the others, so that what follows can index freely.
/// Also enters every instruction into the index. Linear in time and memory, also for plans that were never plans.
class structure_check {
 public:
  explicit structure_check(plan_index& index) : x_(index), p_(index.p) {}

  bool run() { return check_head() && check_placement() && check_streams() && check_instructions() && check_cells(); }

 private:
  bool check_head() {
    const pipeline_shape& s = p_.shape;
    constexpr std::int64_t limit = largest_action_count;
    if (s.devices < 1 || s.microbatches < 1 || s.chunks < 1 || s.pairs < 1)
      return x_.fail(text("the shape is impossible (", to_string(s), "); every number has to be at least 1"));
    if (p_.steps < 1) return x_.fail(text("it covers ", p_.steps, " steps; expected at least 1"));
    if (p_.step_length < 0 || p_.step_length > longest_schedule / p_.steps)
      return x_.fail(text("step_length is ", p_.step_length, " ticks; expected 0 … 2^61 for all steps"));
    if (p_.replicas < 1 || p_.replica < 0 || p_.replica >= p_.replicas)
      return x_.fail(text("replica ", p_.replica, " of ", p_.replicas, " does not exist"));
    if (static_cast<std::size_t>(p_.transport) >= transport_count) return x_.fail("the transport is unknown");
    if (p_.instructions.size() >= (std::size_t{1} << 31)) return x_.fail("it has 2^31 instructions or more");
    const std::int64_t n = static_cast<std::int64_t>(p_.instructions.size());
    const std::int64_t stages = std::max(1, p_.where.stages);
    if (stages > limit || s.microbatches > limit / stages || p_.steps > n / (stages * s.microbatches))
      return x_.fail(text("it has ", n, " instructions, too few for ", p_.steps, " steps of ", stages, " stages and ",
                          s.microbatches, " microbatches"));
    if (p_.events < 0 || p_.events > n) return x_.fail(text("it has ", p_.events, " events and ", n, " instructions"));
    return true;
  }

  bool check_placement() {
    const placement& w = p_.where;
    if (w.devices != p_.shape.devices)
      return x_.fail(text("the placement has ", w.devices, " devices, the shape ", p_.shape.devices));
    if (w.routes < 1 || w.stages < 1 || w.routes > 32767)
      return x_.fail(text("the placement has ", w.routes, " routes and ", w.stages, " stages"));
    if (w.holders.size() != static_cast<std::size_t>(w.routes) * static_cast<std::size_t>(w.stages))
      return x_.fail(text("the placement lists ", w.holders.size(),
                          " holders, expected routes × stages = ", std::int64_t{w.routes} * w.stages));
    for (const device_index d : w.holders)
      if (d.value < 0 || d.value >= w.devices)
        return x_.fail(text("the placement names device ", d.value, " of ", w.devices));
    if (static_cast<std::size_t>(w.devices) > p_.streams.size())
      return x_.fail(text("it has ", p_.streams.size(), " streams for ", w.devices,
                          " devices; every device needs its compute stream"));
    std::vector<stage_holder> on;
    x_.holder_offsets.push_back(0);
    for (std::int32_t s = 0; s < w.stages; ++s) {
      on.clear();
      for (std::int32_t r = 0; r < w.routes; ++r)
        on.push_back(
            {w.device_of(route_index(r), stage_index(s)),
             r < p_.shape.microbatches ? (std::int64_t{p_.shape.microbatches} - r + w.routes - 1) / w.routes : 0});
      std::sort(on.begin(), on.end(), [](const stage_holder& a, const stage_holder& b) { return a.device < b.device; });
      for (const stage_holder& h : on) {
        if (x_.holders.size() > x_.holder_offsets.back() && x_.holders.back().device == h.device)
          x_.holders.back().microbatches += h.microbatches;
        else
          x_.holders.push_back(h);
      }
      x_.holder_offsets.push_back(x_.holders.size());
    }
    return true;
  }

  [[nodiscard]] bool has_stream(stream_kind kind) const {
    switch (p_.transport) {
      case transport::buffered:
      case transport::queue_per_edge:
        return kind == stream_kind::send || kind == stream_kind::receive || kind == stream_kind::collective;
      case transport::one_queue: return kind == stream_kind::communication;
      case transport::queue_per_direction:
        return kind == stream_kind::activation || kind == stream_kind::gradient || kind == stream_kind::collective;
      case transport::blocking: break;
    }
    return false;
  }

  bool check_streams() {
    std::uint32_t at = 0;
    std::int32_t device = -1;
    std::vector<std::int64_t> used;  // of the current device, to find a queue that it has twice
    for (std::size_t k = 0; k < p_.streams.size(); ++k) {
      const stream& s = p_.streams[k];
      const auto fail = [&](const char* rule) {
        return x_.fail(text("stream ", k, ": ", rule), {.device = s.device.value});
      };
      if (s.begin != at || s.end < s.begin || s.end > p_.instructions.size())
        return fail("its range does not follow the one before");
      if (static_cast<std::size_t>(s.kind) >= stream_kind_count) return fail("its kind is unknown");
      if (s.kind == stream_kind::compute) {
        if (s.device.value != ++device || device >= p_.shape.devices)
          return fail("expected one compute stream for each device, in order");
        x_.first_stream.push_back(static_cast<std::uint32_t>(k));
        if (!no_queue_twice(used)) return fail("the device before it has a queue twice");
      } else {
        if (s.device.value != device) return fail("a queue has to follow the compute stream of its device");
        if (!has_stream(s.kind)) return fail("the plan's transport has no such queue");
        if (p_.streams[k - 1].kind == stream_kind::collective)
          return fail("the queue of collectives has to be the last of its device");
        used.push_back((std::int64_t{s.peer.value} << 8) | static_cast<std::int64_t>(s.kind));
      }
      const bool edge =
          p_.transport == transport::queue_per_edge && (s.kind == stream_kind::send || s.kind == stream_kind::receive);
      if (edge ? s.peer.value < 0 || s.peer.value >= p_.shape.devices || s.peer == s.device : s.peer.value != -1)
        return fail("its peer is impossible");
      at = s.end;
    }
    if (device + 1 != p_.shape.devices)
      return x_.fail(text("device ", device + 1, " has no compute stream"), {.device = device + 1});
    if (!no_queue_twice(used)) return x_.fail(text("device ", device, " has a queue twice"), {.device = device});
    if (at != p_.instructions.size()) return x_.fail("the streams do not cover all instructions");
    x_.first_stream.push_back(static_cast<std::uint32_t>(p_.streams.size()));
    return true;
  }

  static bool no_queue_twice(std::vector<std::int64_t>& used) {
    std::sort(used.begin(), used.end());
    const bool fine = std::adjacent_find(used.begin(), used.end()) == used.end();
    used.clear();
    return fine;
  }

  bool check_instructions() {
    x_.stream_of.resize(p_.instructions.size());
    x_.recorded_by.assign(static_cast<std::size_t>(p_.events), no_instruction);
    x_.cells.resize(static_cast<std::size_t>(p_.steps) * static_cast<std::size_t>(p_.where.stages) *
                    static_cast<std::size_t>(p_.shape.microbatches));
    std::size_t waits = 0;
    for (std::size_t k = 0; k < p_.streams.size(); ++k) {
      const stream& s = p_.streams[k];
      const std::uint32_t kinds = kinds_of(s);
      std::int32_t step = 0;
      for (std::uint32_t at = s.begin; at < s.end; ++at) {
        x_.stream_of[at] = static_cast<std::uint32_t>(k);
        const instruction& i = p_.instructions[at];
        if (const char* rule = broken_rule(i, s, kinds)) return x_.fail_at(at, rule);
        if (s.kind == stream_kind::compute && i.step < step)
          return x_.fail_at(at, text("it stands behind an entry of step ", step));
        step = i.step;
        if (!check_lists(i, at, waits) || !enter(i, at)) return false;
      }
    }
    if (waits != p_.waits.size())
      return x_.fail(text("it lists ", p_.waits.size(), " waits, the instructions have ", waits));
    return true;
  }

  /// The rule that an instruction breaks all by itself; null for none.
  [[nodiscard]] const char* broken_rule(const instruction& i, const stream& s, std::uint32_t kinds) const {
    const action& a = i.what;
    if (static_cast<std::size_t>(a.kind) >= action_kind_count) return "its kind is unknown";
    if ((kinds >> static_cast<unsigned>(a.kind) & 1U) == 0) return "it does not belong on this stream";
    if (i.step < 0 || i.step >= p_.steps) return "there is no such step";
    if (!is_pipeline_action(a.kind) && !is_transfer(a.kind)) return broken_other(i, s.device);
    if (a.stage.value < 0 || a.stage.value >= p_.where.stages) return "there is no such stage";
    if (a.microbatch.value < 0 || a.microbatch.value >= p_.shape.microbatches) return "there is no such microbatch";
    if (p_.where.routes == 1 ? a.route.value != 0 : p_.where.route_of(a.microbatch) != a.route)
      return "the microbatch takes another route";
    if (p_.where.device_of(a.route, a.stage) != s.device) return "another device holds this stage";
    if (a.layer.value != -1 || a.side != side::none || i.piece != 0 || i.pieces != 1)
      return "it has neither layer, side nor pieces";
    if (i.origin_step != i.step) return "origin_step has to be its step";
    if (is_pipeline_action(a.kind))
      return i.tag == -1 && i.peer.value == -1 ? nullptr : "only communication has a tag or a peer";
    return broken_transfer(i, s);
  }

  static constexpr bool is_transfer(action_kind kind) { return is_send(kind) || is_receive(kind); }

  [[nodiscard]] const char* broken_transfer(const instruction& i, const stream& s) const {
    const bool up = i.what.kind == action_kind::send_activation || i.what.kind == action_kind::recv_gradient;
    const std::int32_t other = i.what.stage.value + (up ? 1 : -1);
    if (i.tag < 0) return "it needs a tag";
    if (other < 0 || other >= p_.where.stages) return "there is no stage at the other end";
    const device_index peer = p_.where.device_of(i.what.route, stage_index(other));
    if (peer == s.device) return "both stages are on this device";
    if (peer != i.peer) return "its peer does not hold the stage at the other end";
    return s.peer.value != -1 && s.peer != peer ? "it does not belong in the queue of this peer" : nullptr;
  }

  /// Second-order work, the end of a step, and the user's own kind.
  [[nodiscard]] const char* broken_other(const instruction& i, device_index device) const {
    const action& a = i.what;
    if (a.side > side::b) return "its side is unknown";
    if (i.pieces < 1 || i.piece < 0 || i.piece >= i.pieces) return "there is no such piece";
    if (a.layer.value < -1) return "there is no such layer";
    if (a.microbatch.value < -1 || a.microbatch.value >= p_.shape.microbatches) return "there is no such microbatch";
    if (a.route.value < 0 || a.route.value >= p_.where.routes) return "there is no such route";
    if (i.peer.value != -1) return "only transfers have a peer";
    if (is_collective(a.kind) ? i.tag < 0 : i.tag != -1)
      return is_collective(a.kind) ? "it needs a tag" : "only communication has a tag";
    const bool dated = is_second_order(a.kind) && a.kind != action_kind::precondition;
    if (dated && i.origin_step > i.step) return "it runs before the step of its statistics";
    if (!dated && i.origin_step != i.step) return "origin_step has to be its step";
    const bool ends_step = a.kind == action_kind::sync_gradient || a.kind == action_kind::precondition ||
                           a.kind == action_kind::optimizer_step || a.kind == action_kind::sync_norm;
    if (ends_step && (i.piece != 0 || i.pieces != 1)) return "the end of a step has no pieces";
    if (a.kind == action_kind::sync_norm) return a.stage.value == -1 ? nullptr : "a norm belongs to no stage";
    if (a.kind == action_kind::user && a.stage.value == -1) return nullptr;
    if (a.stage.value < 0 || a.stage.value >= p_.where.stages) return "there is no such stage";
    if (p_.where.device_of(a.route, a.stage) != device) return "another device holds this stage";
    const bool of_microbatch = a.kind == action_kind::statistic && a.microbatch.value >= 0;
    return of_microbatch && p_.where.route_of(a.microbatch) != a.route ? "the microbatch takes another route" : nullptr;
  }

  /// The kinds that may stand on a stream, one bit each.
  [[nodiscard]] std::uint32_t kinds_of(const stream& s) const {
    std::uint32_t kinds = 0;
    for (std::size_t k = 0; k < action_kind_count; ++k) {
      const auto kind = static_cast<action_kind>(k);
      bool fits = false;
      switch (s.kind) {
        case stream_kind::compute: fits = !is_communication(kind) || p_.transport == transport::blocking; break;
        case stream_kind::communication: fits = is_communication(kind); break;
        case stream_kind::activation:
          fits = kind == action_kind::send_activation || kind == action_kind::recv_activation;
          break;
        case stream_kind::gradient:
          fits = kind == action_kind::send_gradient || kind == action_kind::recv_gradient;
          break;
        case stream_kind::send: fits = is_send(kind); break;
        case stream_kind::receive: fits = is_receive(kind); break;
        case stream_kind::collective: fits = is_collective(kind); break;
      }
      if (fits) kinds |= 1U << k;
    }
    return kinds;
  }

  bool check_lists(const instruction& i, std::uint32_t at, std::size_t& waits) {
    if (i.wait_count == 0 ? i.first_wait > p_.waits.size()
                          : i.first_wait != waits || i.wait_count > p_.waits.size() - waits)
      return x_.fail_at(at, "its waits do not follow those of the instruction before");
    waits += i.wait_count;
    if (i.records.value == -1) return true;
    if (i.records.value < 0 || i.records.value >= p_.events)
      return x_.fail_at(at, text("it records event ", i.records.value, " of ", p_.events));
    std::uint32_t& by = x_.recorded_by[i.records.at()];
    if (by != no_instruction) return x_.fail_at(at, text("event ", i.records.value, " is recorded twice"));
    by = at;
    return true;
  }

  bool enter(const instruction& i, std::uint32_t at) {
    std::uint32_t plan_cell::*slot = nullptr;
    switch (i.what.kind) {
      case action_kind::forward: slot = &plan_cell::forward; break;
      case action_kind::backward:
      case action_kind::backward_input: slot = &plan_cell::backward; break;
      case action_kind::backward_weight: slot = &plan_cell::weight; break;
      case action_kind::recompute: slot = &plan_cell::recompute; break;
      case action_kind::send_activation: slot = &plan_cell::send_activation; break;
      case action_kind::recv_activation: slot = &plan_cell::recv_activation; break;
      case action_kind::send_gradient: slot = &plan_cell::send_gradient; break;
      case action_kind::recv_gradient: slot = &plan_cell::recv_gradient; break;
      default: x_.has_second_order = true; return true;
    }
    std::uint32_t& in = x_.cell_of(i).*slot;
    if (in != no_instruction) return x_.fail_at(at, "it stands in the plan twice");
    in = at;
    return true;
  }

  /// Every microbatch runs forward and backward once through every stage.
  bool check_cells() {
    for (std::int32_t step = 0; step < p_.steps; ++step)
      for (std::int32_t s = 0; s < p_.where.stages; ++s)
        for (std::int32_t m = 0; m < p_.shape.microbatches; ++m) {
          const plan_cell& c = x_.cells[x_.cell_at(step, s, m)];
          const char* missing = c.forward == no_instruction    ? "forward"
                                : c.backward == no_instruction ? "backward"
                                                               : nullptr;
          if (missing == nullptr) {
            const bool half = p_.instructions[c.backward].what.kind == action_kind::backward_input;
            if (half == (c.weight != no_instruction)) continue;
            missing = half ? "backward_weight" : "backward_input";
          }
          const device_index d = p_.where.device_of(p_.where.route_of(microbatch_index(m)), stage_index(s));
          return x_.fail(
              text("device ", d.value, ": stage ", s, " microbatch ", m, " step ", step, " has no ", missing),
              {.device = d.value, .step = step, .stage = s, .microbatch = m});
        }
    return true;
  }

  plan_index& x_;
  const plan& p_;
};

}  // namespace brim::detail
