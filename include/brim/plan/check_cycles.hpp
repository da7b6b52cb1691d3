// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/sort_key.hpp>
#include <brim/plan/check_order.hpp>
#include <brim/plan/check_timeline.hpp>
#include <brim/plan/placed_actions.hpp>
#include <brim/plan/plan_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace brim::detail {

/// The last check but one: second-order work sees one refresh cycle only and all of it, and a step ends in the right order.
/// Complexity: O(n log n) in the entries that are no pipeline actions and no transfers.
class cycle_check {
 public:
  cycle_check(plan_index& index, std::span<const late_entry> late, const plan_times& times)
      : x_(index),
        p_(index.p),
        times_(times) {
    for (const late_entry& l : late) {
      const instruction& i = p_.instructions[l.at];
      const refresh_cycle c(i.step, i.origin_step, p_.steps);
      entries_.push_back({&i, l.at, l.seen, x_.device_at(l.at), c.step, c.repetition});
    }
  }

  bool run() {
    if (entries_.empty()) return true;
    find_last_backwards();
    return for_groups(
               [](const entry& e) { return sort_key(e.in->what.stage, e.in->what.layer, e.in->what.side, e.cycle); },
               [](const entry& e) { return sort_key(e.kind(), e.device, e.in->what.microbatch, e.in->piece, e.at); },
               [this](std::span<const entry> g) { return check_cycle(g); }) &&
           for_groups(
               [](const entry& e) { return sort_key(e.in->step, e.in->what.stage, e.device); },
               [](const entry& e) { return sort_key(e.kind(), e.in->what.layer, e.in->what.side, e.in->piece, e.at); },
               [this](std::span<const entry> g) { return check_step_end(g); }) &&
           for_groups([](const entry& e) { return sort_key(e.in->step, e.device); },
                      [](const entry& e) { return sort_key(e.kind(), e.at); },
                      [this](std::span<const entry> g) { return check_norms(g); });
  }

 private:
  struct entry {
    const instruction* in;
    std::uint32_t at, seen;
    device_index device;
    std::int32_t cycle;       ///< step of the table whose statistics it belongs to
    std::int64_t repetition;  ///< of the table, after that one

    [[nodiscard]] action_kind kind() const { return in->what.kind; }
  };
  using group = std::span<const entry>;

  template <class Key, class Within, class Check>
  bool for_groups(const Key& key, const Within& within, const Check& check) {
    std::sort(entries_.begin(), entries_.end(), [&](const entry& a, const entry& b) {
      return sort_key(key(a), within(a)) < sort_key(key(b), within(b));
    });
    for (std::size_t first = 0, last = 0; first < entries_.size(); first = last) {
      while (last < entries_.size() && key(entries_[last]) == key(entries_[first])) ++last;
      if (!check(group(entries_).subspan(first, last - first))) return false;
    }
    return true;
  }

  /// The entries of one kind in a group that is sorted by kind.
  static group of_kind(group g, action_kind kind) {
    const auto first = std::partition_point(g.begin(), g.end(), [kind](const entry& e) { return e.kind() < kind; });
    const auto last = std::partition_point(first, g.end(), [kind](const entry& e) { return e.kind() == kind; });
    return {first, last};
  }
  static group on_device(group g, device_index d) {  // of one kind, sorted by device
    const auto first = std::partition_point(g.begin(), g.end(), [d](const entry& e) { return e.device < d; });
    const auto last = std::partition_point(first, g.end(), [d](const entry& e) { return e.device == d; });
    return {first, last};
  }

  /// Whether instruction `before` of repetition 0 has finished when `e` starts.
  [[nodiscard]] bool done(std::uint32_t before, const entry& e, std::int64_t repetition = 0) const {
    if (before == no_instruction || repetition < e.repetition) return true;
    if (repetition > e.repetition) return false;
    return x_.stream_of[before] == x_.stream_of[e.at] ? before < e.at : before < e.seen;
  }
  [[nodiscard]] bool done(const entry& before, const entry& e) const { return done(before.at, e, before.repetition); }

  bool fail_order(const entry& e, const instruction& before) {
    return x_.fail_at(e.at, text("it does not wait for ", describe_entry(p_, before)));
  }

  /// The entry of a group that finishes last; null for none. The group has to be of one stream.
  static const entry* latest(group g) {
    const entry* last = nullptr;
    for (const entry& e : g)
      if (last == nullptr || sort_key(last->repetition, last->at) < sort_key(e.repetition, e.at)) last = &e;
    return last;
  }
  /// Of collectives, which need not end in their order.
  [[nodiscard]] const entry* last_to_end(group g) const {
    const entry* last = latest(g);
    if (times_.empty()) return last;
    for (const entry& e : g)
      if (times_.end_of(e.at) > times_.end_of(last->at)) last = &e;
    return last;
  }
  bool check_after(const entry& e, const entry* before) {
    if (before == nullptr) return true;
    if (!done(*before, e)) return fail_order(e, *before->in);
    return check_times(e, before->at, e.repetition - before->repetition);
  }
  /// Whether instruction `before` ends before `e` starts, `repetitions` of the table later.
  bool check_times(const entry& e, std::uint32_t before, std::int64_t repetitions) {
    if (times_.empty() || before == no_instruction || repetitions < 0) return true;
    const ticks overlap = times_.end_of(before) - times_.start_of(e.at);
    const ticks table = p_.steps * p_.step_length;
    if (overlap <= 0 || (table > 0 && (overlap - 1) / table < repetitions)) return true;
    return x_.fail_at(e.at, text("by the timeline it starts at ", times_.start_of(e.at), ", and ",
                                 describe_entry(p_, p_.instructions[before]), " takes until ", times_.end_of(before),
                                 repetitions > 0 ? " of an earlier table" : ""));
  }

  // ---- one refresh cycle of one side of one layer ----

  bool check_cycle(group g) {
    const group statistics = of_kind(g, action_kind::statistic);
    const group sums = of_kind(g, action_kind::sync_statistic);
    const group refreshes = of_kind(g, action_kind::refresh);
    const group exchanges = of_kind(g, action_kind::sync_refresh);
    for (const group kind : {statistics, sums, refreshes, exchanges})
      if (!check_pieces(kind)) return false;
    for (const entry& e : statistics)
      if (!check_source(e)) return false;
    for (const group users : {sums, refreshes})
      for (std::size_t k = 0; k < users.size();) {
        const group own = on_device(users, users[k].device);
        if (!check_users(own, on_device(statistics, own.front().device), latest(on_device(sums, own.front().device))))
          return false;
        k += own.size();
      }
    for (const entry& e : exchanges)
      if (!check_after(e, exchanged_by(e, on_device(refreshes, e.device)))) return false;
    return check_division(refreshes, exchanges);
  }

  /// What uses statistics follows all of them: every microbatch that this device runs at this stage. A refresh follows
  /// the sum too, where there is one.
  bool check_users(group users, group statistics, const entry* sum) {
    std::int64_t complete = 0, whole = 0;
    for (const entry& s : statistics) {
      if (s.in->piece == 0) ++complete;
      if (s.in->piece == 0 && s.in->what.microbatch.value < 0) ++whole;
    }
    const entry& first = users.front();
    const std::int64_t share = x_.share_of(first.in->what.stage, first.device);
    if (complete != (whole > 0 ? whole : share))
      return x_.fail_at(first.at, text("it needs the statistics of ", share, " microbatches of step ",
                                       first.in->origin_step, " on this device, the plan has ", complete - whole));
    const entry* const last = latest(statistics);
    for (const entry& e : users) {
      if (!check_after(e, last)) return false;
      if (e.kind() == action_kind::refresh && !check_after(e, sum)) return false;
    }
    return true;
  }

  /// The last refresh that an exchange covers: its own piece where both are cut alike, else all of them.
  static const entry* exchanged_by(const entry& e, group refreshes) {
    if (refreshes.empty()) return nullptr;
    if (e.in->pieces != refreshes.front().in->pieces) return &refreshes.back();
    const auto end = std::partition_point(refreshes.begin(), refreshes.end(),
                                          [&](const entry& r) { return r.in->piece <= e.in->piece; });
    return end == refreshes.begin() ? nullptr : &*(end - 1);
  }

  /// Pieces of one item on a device: each once, one after the other, and all of them (of a refresh: see `check_division`).
  bool check_pieces(group g) {
    for (std::size_t k = 0; k < g.size(); ++k) {
      const entry& e = g[k];
      const bool first = k == 0 || g[k - 1].device != e.device || g[k - 1].in->what.microbatch != e.in->what.microbatch;
      if (!first) {
        const entry& before = g[k - 1];
        if (before.in->pieces != e.in->pieces)
          return x_.fail_at(e.at, text("another piece of it says ", before.in->pieces, " pieces"));
        if (before.in->piece == e.in->piece) return x_.fail_at(e.at, "it stands in the plan twice");
        if (!done(before, e)) return x_.fail_at(e.at, "it stands before an earlier piece of the same item");
      }
      if (e.kind() == action_kind::refresh) continue;
      const bool last =
          k + 1 == g.size() || g[k + 1].device != e.device || g[k + 1].in->what.microbatch != e.in->what.microbatch;
      const std::int32_t expected = first ? 0 : g[k - 1].in->piece + 1;
      if (e.in->piece != expected || (last && e.in->piece + 1 != e.in->pieces))
        return x_.fail_at(e.at, "a piece of the same item is missing");
    }
    return true;
  }

  /// A statistic follows the forward (side a) or backward of its own microbatch, or the last backward of its step.
  bool check_source(const entry& e) {
    const action& a = e.in->what;
    std::uint32_t source = no_instruction;
    if (a.microbatch.value >= 0) {
      const plan_cell& c = x_.cells[x_.cell_at(e.cycle, a.stage.value, a.microbatch.value)];
      source = a.side == side::a ? c.forward : c.backward;
    } else {
      source = last_backward(e.cycle, a.stage, e.device);
    }
    return done(source, e) || fail_order(e, p_.instructions[source]);
  }

  /// A refresh is done in full: by every device for itself, or once, divided among the holders. Other replicas may have
  /// the rest of it. What several devices have to share has to be exchanged.
  bool check_division(group refreshes, group exchanges) {
    if (refreshes.empty()) {
      if (!exchanges.empty() && p_.replicas == 1)
        return x_.fail_at(exchanges.front().at, "there is no refresh that it could share");
      return true;
    }
    if (p_.replicas > 1) return true;
    std::vector<std::int32_t> have;
    bool alone = true;
    for (std::size_t k = 0; k < refreshes.size(); ++k) {
      const entry& e = refreshes[k];
      have.push_back(e.in->piece);
      const bool first = k == 0 || refreshes[k - 1].device != e.device;
      const bool last = k + 1 == refreshes.size() || refreshes[k + 1].device != e.device;
      alone = alone && e.in->piece == (first ? 0 : refreshes[k - 1].in->piece + 1) &&
              (!last || e.in->piece + 1 == e.in->pieces);
    }
    if (alone) return true;
    const std::int32_t pieces = refreshes.front().in->pieces;
    for (const entry& e : refreshes)
      if (e.in->pieces != pieces) return x_.fail_at(e.at, text("another piece of it says ", pieces, " pieces"));
    std::sort(have.begin(), have.end());
    bool divided = have.size() == static_cast<std::size_t>(pieces);
    for (std::size_t k = 0; divided && k < have.size(); ++k) divided = have[k] == static_cast<std::int32_t>(k);
    return divided || x_.fail_at(refreshes.front().at, "a piece of the same item is missing");
  }

  // ---- the end of a step ----

  /// On one device, for one stage of one step: last backward, sum of the gradient, preconditions, their exchange, update.
  bool check_step_end(group g) {
    const group sums = of_kind(g, action_kind::sync_gradient);
    const group conditions = of_kind(g, action_kind::precondition);
    const group updates = of_kind(g, action_kind::optimizer_step);
    for (const group kind : {sums, conditions, updates})
      for (std::size_t k = 0; k < kind.size(); ++k) {
        const entry& e = kind[k];
        if (k > 0 && same_item(kind[k - 1], e)) return x_.fail_at(e.at, "it stands in the plan twice");
        const std::uint32_t last = last_backward(e.in->step, e.in->what.stage, e.device);
        if (!done(last, e)) return fail_order(e, p_.instructions[last]);
        if (!check_times(e, last, 0)) return false;
      }
    const entry* const sum = latest(of_layer(sums, layer_index(-1)));
    const entry* const last_sum = latest(sums);
    const entry* const last_condition = latest(conditions);
    for (const entry& e : conditions)
      if (!check_after(e, sum)) return false;
    const entry* shared = nullptr;  // what the exchange of a layer's result follows
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const layer_index layer = sums[k].in->what.layer;
      if (layer.value < 0) continue;
      if (k == 0 || sums[k - 1].in->what.layer != layer) shared = latest(of_layer(conditions, layer));
      if (!check_after(sums[k], sum) || !check_after(sums[k], shared)) return false;
    }
    const entry* const slowest_sum = last_to_end(sums);
    for (const entry& e : updates)
      if (!check_after(e, last_sum) || !check_after(e, slowest_sum) || !check_after(e, last_condition)) return false;
    return true;
  }

  static group of_layer(group g, layer_index layer) {  // of one kind, sorted by layer
    const auto first =
        std::partition_point(g.begin(), g.end(), [layer](const entry& e) { return e.in->what.layer < layer; });
    const auto last =
        std::partition_point(first, g.end(), [layer](const entry& e) { return e.in->what.layer == layer; });
    return {first, last};
  }
  static bool same_item(const entry& x, const entry& y) {
    return x.in->what == y.in->what && x.in->piece == y.in->piece;
  }

  /// A norm follows every precondition of its step, and every update follows the norm.
  bool check_norms(group g) {
    const group norms = of_kind(g, action_kind::sync_norm);
    const entry* const last_condition = latest(of_kind(g, action_kind::precondition));
    const entry* const last_norm = latest(norms);
    for (const entry& n : norms)
      if (!check_after(n, last_condition)) return false;
    for (const entry& u : of_kind(g, action_kind::optimizer_step))
      if (!check_after(u, last_norm)) return false;
    return true;
  }

  void find_last_backwards() {
    last_.assign(static_cast<std::size_t>(p_.steps) * x_.holders.size(), no_instruction);
    for (std::int32_t step = 0; step < p_.steps; ++step)
      for (std::int32_t s = 0; s < p_.where.stages; ++s)
        for (std::int32_t m = 0; m < p_.shape.microbatches; ++m) {
          const plan_cell& c = x_.cells[x_.cell_at(step, s, m)];
          const device_index d = p_.where.device_of(p_.where.route_of(microbatch_index(m)), stage_index(s));
          std::uint32_t& last = last_[last_at(step, stage_index(s), d)];
          for (const std::uint32_t half : {c.backward, c.weight})
            if (half != no_instruction && (last == no_instruction || last < half)) last = half;
        }
  }
  /// The last backward of a stage on a device, whatever its route; `no_instruction` where it has no microbatches.
  [[nodiscard]] std::uint32_t last_backward(std::int32_t step, stage_index stage, device_index device) const {
    return last_[last_at(step, stage, device)];
  }
  [[nodiscard]] std::size_t last_at(std::int32_t step, stage_index stage, device_index device) const {
    const auto on = x_.holders_of(stage);
    const auto at =
        std::partition_point(on.begin(), on.end(), [&](const stage_holder& h) { return h.device < device; });
    return static_cast<std::size_t>(step) * x_.holders.size() + x_.holder_offsets[stage.at()] +
           static_cast<std::size_t>(at - on.begin());
  }

  plan_index& x_;
  const plan& p_;
  const plan_times& times_;
  std::vector<entry> entries_;
  std::vector<std::uint32_t> last_;  ///< last backward by step and holder of a stage
};

}  // namespace brim::detail
