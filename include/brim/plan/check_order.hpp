// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/plan/check_pairs.hpp>
#include <brim/plan/plan_index.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brim::detail {

/// An instruction that is no pipeline action and no transfer, with what its stream has waited for when it starts: the
/// end of the known part of the compute stream (for a collective) or of the queue of collectives (for everything else).
struct late_entry {
  std::uint32_t at;
  std::uint32_t seen;
};

/// The third check, in one go with the second: on its own device every pipeline action and every send comes after what it needs, by the order of
/// its stream or by an event. Complexity: linear.
class order_check {
 public:
  order_check(plan_index& index, std::vector<late_entry>& late) : x_(index), p_(index.p), pairs_(index), late_(late) {}

  bool run() {
    seen_.resize(p_.streams.size());
    for (stream_ = 0; stream_ < p_.streams.size(); ++stream_)
      if (!check_stream()) return false;
    return pairs_.check_collectives();
  }

 private:
  bool check_stream() {
    const stream& s = p_.streams[stream_];
    const std::uint32_t compute = x_.first_stream[s.device.at()];
    const std::uint32_t next_device = x_.first_stream[s.device.at() + 1];
    // A queue looks at the compute stream alone: whatever it needs is there.
    const std::uint32_t known = stream_ == compute ? next_device : compute + 1;
    for (std::uint32_t k = compute; k < known; ++k) seen_[k] = 0;
    for (std::uint32_t at = s.begin; at < s.end; ++at) {
      const instruction& i = p_.instructions[at];
      for (const event_index e : p_.waits_of(i)) {
        if (e.value < 0 || e.value >= p_.events)
          return x_.fail_at(at, text("it waits for event ", e.value, " of ", p_.events));
        const std::uint32_t by = x_.recorded_by[e.at()];
        if (by == no_instruction) return x_.fail_at(at, text("it waits for event ", e.value, ", which nobody records"));
        if (x_.device_at(by) != s.device)
          return x_.fail_at(at, text("it waits for event ", e.value, " of another device"));
        std::uint32_t& seen = seen_[x_.stream_of[by]];
        if (x_.stream_of[by] < known && seen <= by) seen = by + 1;
      }
      if (!check(i, at, compute, next_device)) return false;
    }
    return true;
  }

  /// Whether `before` has finished when the current instruction starts.
  [[nodiscard]] bool done(std::uint32_t before, std::uint32_t at) const {
    const std::uint32_t k = x_.stream_of[before];
    return k == stream_ ? before < at : before < seen_[k];
  }

  bool check(const instruction& i, std::uint32_t at, std::uint32_t compute, std::uint32_t next_device) {
    const std::int32_t stage = i.what.stage.value;
    switch (i.what.kind) {
      case action_kind::forward:
        return stage == 0 || check_input(i, at, stage - 1, &plan_cell::forward, x_.cell_of(i).recv_activation);
      case action_kind::backward:
      case action_kind::backward_input:
        if (!done(x_.cell_of(i).forward, at)) return x_.fail_at(at, "it stands before its own forward");
        return stage + 1 == p_.where.stages ||
               check_input(i, at, stage + 1, &plan_cell::backward, x_.cell_of(i).recv_gradient);
      case action_kind::backward_weight:
        return done(x_.cell_of(i).backward, at) || x_.fail_at(at, "it stands before its own backward_input");
      case action_kind::recompute:
        if (!done(x_.cell_of(i).forward, at)) return x_.fail_at(at, "it stands before its own forward");
        return x_.cell_of(i).backward > at || x_.fail_at(at, "it stands behind its own backward");
      case action_kind::send_activation:
        return (done(x_.cell_of(i).forward, at) || fail_wait(at, x_.cell_of(i).forward)) &&
               pairs_.check_transfer(i, at);
      case action_kind::send_gradient:
        return (done(x_.cell_of(i).backward, at) || fail_wait(at, x_.cell_of(i).backward)) &&
               pairs_.check_transfer(i, at);
      case action_kind::recv_activation:
      case action_kind::recv_gradient: return pairs_.check_transfer(i, at);
      case action_kind::user: return true;
      default: {
        // Collectives have one queue: the last of the device, or the only one.
        const std::uint32_t other = is_collective(i.what.kind) ? compute : next_device - 1;
        late_.push_back({at, other == stream_ ? 0 : seen_[other]});
        return true;
      }
    }
  }

  /// The input of a stage comes from the stage beside it, on this device or through a receive.
  bool check_input(const instruction& i, std::uint32_t at, std::int32_t from, std::uint32_t plan_cell::*producer,
                   std::uint32_t receive) {
    const device_index here = p_.streams[stream_].device;
    if (p_.where.device_of(i.what.route, stage_index(from)) == here) {
      const std::uint32_t before = x_.cell_of(i, from).*producer;
      return done(before, at) || fail_wait(at, before);
    }
    if (receive == no_instruction) return x_.fail_at(at, "nothing receives its input");
    return done(receive, at) || fail_wait(at, receive);
  }

  bool fail_wait(std::uint32_t at, std::uint32_t before) {
    return x_.fail_at(at, text("it does not wait for ", describe_entry(p_, p_.instructions[before]), " (",
                               describe_stream(x_.stream_at(before)), ")"));
  }

  plan_index& x_;
  const plan& p_;
  pair_check pairs_;
  std::vector<late_entry>& late_;
  std::vector<std::uint32_t> seen_;  ///< by stream: end of the part that the current stream has waited for
  std::uint32_t stream_ = 0;
};

}  // namespace brim::detail
