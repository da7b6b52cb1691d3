// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/sort_key.hpp>
#include <brim/plan/plan_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// The second check: every transfer has both ends, with one tag and in one order, and every collective all its members.
class pair_check {
 public:
  explicit pair_check(plan_index& index) : x_(index), p_(index.p), last_(index.p.streams.size()) {
    x_.partner.assign(p_.instructions.size(), no_instruction);
  }

  /// Finds the other end of a transfer. Receives have to come stream by stream, in order.
  bool check_transfer(const instruction& i, std::uint32_t at) {
    std::uint32_t end = no_instruction;
    switch (i.what.kind) {
      case action_kind::send_activation: end = x_.cell_of(i, i.what.stage.value + 1).recv_activation; break;
      case action_kind::recv_activation: end = x_.cell_of(i, i.what.stage.value - 1).send_activation; break;
      case action_kind::send_gradient: end = x_.cell_of(i, i.what.stage.value - 1).recv_gradient; break;
      default: end = x_.cell_of(i, i.what.stage.value + 1).send_gradient;
    }
    const bool sends = is_send(i.what.kind);
    if (end == no_instruction)
      return x_.fail_at(at,
                        text(sends ? "nothing receives it on device " : "nothing sends it on device ", i.peer.value));
    x_.partner[at] = end;
    if (sends) return true;
    if (p_.instructions[end].tag != i.tag)
      return x_.fail_at(at, text("its tag is ", i.tag, ", the other end's on device ", i.peer.value, " is ",
                                 p_.instructions[end].tag));
    return check_fifo(at, end);
  }

  /// Finds the members of every collective.
  bool check_collectives() {
    if (!x_.has_second_order) return true;
    for (std::uint32_t at = 0; at < p_.instructions.size(); ++at)
      if (is_collective(p_.instructions[at].what.kind)) x_.members.push_back(at);
    const auto key = [this](std::uint32_t at) {
      const instruction& i = p_.instructions[at];
      return sort_key(i.what.kind, i.what.stage, i.what.layer, i.what.side, i.step, i.origin_step, i.piece, i.pieces,
                      i.what.microbatch);
    };
    std::sort(x_.members.begin(), x_.members.end(),
              [&](std::uint32_t a, std::uint32_t b) { return sort_key(key(a), a) < sort_key(key(b), b); });
    for (std::size_t first = 0, last = 0; first < x_.members.size(); first = last) {
      while (last < x_.members.size() && key(x_.members[last]) == key(x_.members[first])) ++last;
      if (!check_group(first, last)) return false;
      for (std::size_t m = first; m < last; ++m)
        x_.partner[x_.members[m]] = static_cast<std::uint32_t>(x_.groups.size());
      x_.groups.push_back({first, last});
    }
    return true;
  }

 private:
  struct last_receive {
    std::uint32_t by = no_instruction;  ///< receiving stream
    std::uint32_t sent = 0, at = 0;
  };

  /// Between two streams messages cannot overtake each other: they are received in the order in which they are sent.
  bool check_fifo(std::uint32_t at, std::uint32_t sent) {
    const std::uint32_t by = x_.stream_of[at];
    last_receive& last = last_[x_.stream_of[sent]];
    if (last.by == by && sent < last.sent)
      return x_.fail_at(at, text("device ", p_.instructions[at].peer.value, " sends it before ",
                                 describe_entry(p_, p_.instructions[last.at]), ", which is received first"));
    last = {by, sent, at};
    return true;
  }

  /// Holders of the stage; of a sum of statistics only those that have any: a route without microbatches has none.
  [[nodiscard]] std::size_t members_of(const action& what) const {
    const auto holders = x_.holders_of(what.stage);
    if (what.kind != action_kind::sync_statistic) return holders.size();
    return static_cast<std::size_t>(
        std::count_if(holders.begin(), holders.end(), [](const stage_holder& h) { return h.microbatches > 0; }));
  }

  /// The members of a collective are its stage's holders, or all devices, each once. They stand in order of device.
  bool check_group(std::size_t first, std::size_t last) {
    const instruction& i = p_.instructions[x_.members[first]];
    const bool everybody = i.what.stage.value < 0;
    const std::size_t wanted = everybody ? static_cast<std::size_t>(p_.shape.devices) : members_of(i.what);
    for (std::size_t m = first; m < last; ++m) {
      const std::uint32_t at = x_.members[m];
      if (m > first && x_.device_at(at) == x_.device_at(x_.members[m - 1]))
        return x_.fail_at(at, "it stands in the plan twice");
      if (i.what.kind == action_kind::sync_statistic && x_.share_of(i.what.stage, x_.device_at(at)) == 0)
        return x_.fail_at(at, "the device has no statistics to add");
      if (p_.instructions[at].tag != i.tag)
        return x_.fail_at(at, text("its tag is ", p_.instructions[at].tag, ", that of device ",
                                   x_.device_at(x_.members[first]).value, " is ", i.tag));
    }
    if (last - first == wanted) return true;
    return x_.fail_at(x_.members[first], text(wanted, " devices have to take part in it, ", last - first, " do"));
  }

  plan_index& x_;
  const plan& p_;
  std::vector<last_receive> last_;  ///< by sending stream
};

}  // namespace brim::detail
