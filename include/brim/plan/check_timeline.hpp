// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/sort_key.hpp>
#include <brim/plan/check_order.hpp>
#include <brim/plan/plan_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace brim::detail {

/// The times of a plan's instructions; empty for a plan without times.
struct plan_times {
  const plan& p;
  std::vector<std::uint32_t> entry_of = {};  ///< timeline entry of an instruction, transfers excepted
  std::vector<ticks> group_end = {};         ///< by collective
  std::span<const std::uint32_t> partner = {};

  [[nodiscard]] bool empty() const { return entry_of.empty(); }
  [[nodiscard]] const interval& of(std::uint32_t instruction_at) const {
    return p.timeline[entry_of[instruction_at]].time;
  }
  [[nodiscard]] ticks start_of(std::uint32_t at) const { return of(at).start; }
  /// When a compute action has finished, or a collective: not before its last member has come and the slowest is done.
  [[nodiscard]] ticks end_of(std::uint32_t at) const {
    return is_collective(p.instructions[at].what.kind) ? group_end[partner[at]] : of(at).end;
  }
};

/// The fourth check, of a plan with times: the timeline and the program say the same, the times are possible, and what
/// the times promise about exchanged matrices is kept. Complexity: linear; O(n log n) in the collectives.
class timeline_check {
 public:
  timeline_check(plan_index& index, std::span<const late_entry> late, plan_times& times)
      : x_(index),
        p_(index.p),
        late_(late),
        times_(times),
        time_of_(times.entry_of) {}

  bool run() {
    if (p_.timeline.empty()) return true;
    time_of_.assign(p_.instructions.size(), no_entry);
    std::size_t at = 0;
    for (std::int32_t d = 0; d < p_.shape.devices; ++d)
      if (!check_device(device_index(d), at)) return false;
    if (at != p_.timeline.size())
      return fail(at, "it is on a device that does not exist, or does not stand with its device");
    end_collectives();
    return check_inputs() && check_exchanges();
  }

 private:
  static constexpr std::uint32_t no_entry = no_instruction;

  bool fail(std::size_t at, const std::string& rule) {
    const timed_action& a = p_.timeline[at];
    return x_.fail(text("timeline entry ", at, ": device ", a.device.value, " ", describe_entry(p_, a), " from ",
                        a.time.start, " to ", a.time.end, ": ", rule),
                   site_of(a.device, a.step, a.what));
  }

  static bool same(const timed_action& a, const instruction& i) {
    return a.what == i.what && a.step == i.step && a.origin_step == i.origin_step && a.piece == i.piece &&
           a.pieces == i.pieces;
  }

  /// The timeline's entries of one device against its streams: everything but collectives in the same order.
  bool check_device(device_index d, std::size_t& at) {
    const stream& compute = p_.streams[x_.first_stream[d.at()]];
    std::uint32_t next = compute.begin;
    ticks free = 0, first_start = -1;
    const timed_action* before = nullptr;
    collectives_.clear();
    for (; at < p_.timeline.size() && p_.timeline[at].device == d; ++at) {
      const timed_action& a = p_.timeline[at];
      if (a.time.start < 0 || a.time.end < a.time.start || a.time.end > 2 * longest_schedule)
        return fail(at, "its times are impossible");
      if (a.step < 0 || a.step >= p_.steps || a.time.start < a.step * p_.step_length)
        return fail(at, "it starts before its step");
      if (before != nullptr && sort_key(a.step, a.time.start) < sort_key(before->step, before->time.start))
        return fail(at, "it stands behind an entry that starts later");
      before = &a;
      if (static_cast<std::size_t>(a.what.kind) < action_kind_count && is_collective(a.what.kind)) {
        if (a.time.length() > longest_duration) return fail(at, "it takes longer than 2^50 ticks");
        collectives_.push_back(static_cast<std::uint32_t>(at));
        continue;
      }
      while (next < compute.end && is_communication(p_.instructions[next].what.kind)) ++next;
      if (next == compute.end || !same(a, p_.instructions[next]))
        return fail(at, next == compute.end ? std::string("the compute stream has no entry left for it")
                                            : text("the compute stream has ", describe_entry(p_, p_.instructions[next]),
                                                   " in its place"));
      if (a.time.start < free) return fail(at, text("the device is busy until ", free));
      if (first_start < 0) first_start = a.time.start;
      free = a.time.end;
      time_of_[next++] = static_cast<std::uint32_t>(at);
    }
    while (next < compute.end && is_communication(p_.instructions[next].what.kind)) ++next;
    if (next != compute.end) return x_.fail_at(next, "the timeline has no entry for it");
    if (first_start >= 0 && free - first_start > p_.steps * p_.step_length)
      return x_.fail(text("device ", d.value, " is busy from ", first_start, " to ", free, ", longer than ", p_.steps,
                          " steps of ", p_.step_length, " ticks"),
                     {.device = d.value});
    return check_collectives(d);
  }

  /// Collectives stand in the order of the whole plan in their stream, and in that of this device in the timeline.
  bool check_collectives(device_index d) {
    std::vector<std::uint32_t>& listed = collectives_;
    issued_.clear();
    const std::size_t last = x_.first_stream[d.at() + 1] - 1;  // the queue that has collectives, or the only stream
    for (std::uint32_t at = p_.streams[last].begin; x_.has_second_order && at < p_.streams[last].end; ++at)
      if (is_collective(p_.instructions[at].what.kind)) issued_.push_back(at);
    const auto key = [](const auto& e) {
      return sort_key(e.what.kind, e.what.stage, e.what.layer, e.what.side, e.what.route, e.what.microbatch, e.step,
                      e.origin_step, e.piece, e.pieces);
    };
    std::sort(listed.begin(), listed.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(p_.timeline[a]) < key(p_.timeline[b]); });
    std::sort(issued_.begin(), issued_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(p_.instructions[a]) < key(p_.instructions[b]); });
    for (std::size_t k = 0; k < std::max(listed.size(), issued_.size()); ++k) {
      if (k == issued_.size() || (k < listed.size() && key(p_.timeline[listed[k]]) < key(p_.instructions[issued_[k]])))
        return fail(listed[k], "no stream has an entry for it");
      if (k == listed.size() || key(p_.timeline[listed[k]]) != key(p_.instructions[issued_[k]]))
        return x_.fail_at(issued_[k], "the timeline has no entry for it");
      time_of_[issued_[k]] = listed[k];
    }
    return true;
  }

  void end_collectives() {
    times_.partner = x_.partner;
    for (const collective_group& g : x_.groups) {
      ticks end = 0;
      for (std::size_t m = g.first; m < g.last; ++m) end = std::max(end, time_of(x_.members[m]).end);
      times_.group_end.push_back(end);
    }
  }

  [[nodiscard]] const interval& time_of(std::uint32_t instruction_at) const { return times_.of(instruction_at); }

  /// No action starts before its input has been made on another device.
  bool check_inputs() {
    for (std::int32_t step = 0; step < p_.steps; ++step)
      for (std::int32_t s = 0; s + 1 < p_.where.stages; ++s)
        for (std::int32_t m = 0; m < p_.shape.microbatches; ++m) {
          const plan_cell& low = x_.cells[x_.cell_at(step, s, m)];
          const plan_cell& high = x_.cells[x_.cell_at(step, s + 1, m)];
          if (time_of(high.forward).start < time_of(low.forward).end)
            return fail(time_of_[high.forward], "its input comes later");
          if (time_of(low.backward).start < time_of(high.backward).end)
            return fail(time_of_[low.backward], "its input comes later");
        }
    return true;
  }

  /// A matrix whose exchange ends before a precondition of its layer starts is awaited by it.
  bool check_exchanges() {
    struct entry {
      late_entry late;
      device_index device;
      const instruction* in;
      bool exchange;
      ticks time;
    };
    std::vector<entry> entries;
    for (const late_entry& l : late_) {
      const instruction& i = p_.instructions[l.at];
      const bool exchange = i.what.kind == action_kind::sync_refresh;
      if (exchange || i.what.kind == action_kind::precondition)
        entries.push_back({l, x_.device_at(l.at), &i, exchange, exchange ? time_of(l.at).end : time_of(l.at).start});
    }
    const auto layer = [](const entry& e) { return sort_key(e.device, e.in->what.stage, e.in->what.layer); };
    std::sort(entries.begin(), entries.end(), [&](const entry& a, const entry& b) {
      return sort_key(layer(a), a.time, !a.exchange, a.late.at) < sort_key(layer(b), b.time, !b.exchange, b.late.at);
    });
    const entry* last = nullptr;
    for (const entry& e : entries) {
      if (last != nullptr && layer(*last) != layer(e)) last = nullptr;
      if (e.exchange) {
        if (last == nullptr || last->late.at < e.late.at) last = &e;
      } else if (last != nullptr) {
        const bool same_stream = x_.stream_of[last->late.at] == x_.stream_of[e.late.at];
        if (same_stream ? last->late.at > e.late.at : last->late.at >= e.late.seen)
          return x_.fail_at(e.late.at, text("it does not wait for ", describe_entry(p_, *last->in)));
      }
    }
    return true;
  }

  plan_index& x_;
  const plan& p_;
  std::span<const late_entry> late_;
  plan_times& times_;
  std::vector<std::uint32_t>& time_of_;
  std::vector<std::uint32_t> collectives_, issued_;
};

}  // namespace brim::detail
