// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/sort_key.hpp>
#include <brim/plan/check_order.hpp>
#include <brim/plan/placed_actions.hpp>
#include <brim/plan/plan_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace brim::detail {

/// Nothing is left out: statistics are summed over a stage's holders, used by a refresh, the matrices by a precondition in
/// every step, its result by every holder, and every holder updates its weights after the sum of the gradient.
///
/// A plan that says nothing of the end of its steps (no sum of gradients, precondition or update) leaves it to the trainer,
/// and a plan for one of several replicas does not show what the others do.
/// Complexity: O(n log n) in the entries that are no pipeline actions and no transfers.
class complete_check {
  struct entry {
    const instruction* in;
    std::uint32_t at;
    device_index device;
    std::int32_t cycle;  ///< step of the table whose statistics it belongs to, or at whose end it stands

    [[nodiscard]] action_kind kind() const { return in->what.kind; }
  };

  static constexpr bool is_end(action_kind kind) {
    return kind == action_kind::sync_gradient || kind == action_kind::precondition ||
           kind == action_kind::optimizer_step;
  }
  static auto key(action_kind kind, stage_index stage, layer_index layer, brim::side side, std::int32_t cycle,
                  device_index device) {
    return sort_key(stage, layer, kind, side, cycle, device);
  }
  static auto key(const entry& e) {
    const action& a = e.in->what;
    return key(a.kind, a.stage, a.layer, is_end(a.kind) ? side::none : a.side, e.cycle, e.device);
  }

 public:
  complete_check(plan_index& index, std::span<const late_entry> late) : x_(index), p_(index.p) {
    for (const late_entry& l : late) {
      const instruction& i = p_.instructions[l.at];
      if (i.what.stage.value < 0) continue;
      const refresh_cycle c(i.step, i.origin_step, p_.steps);
      entries_.push_back({&i, l.at, x_.device_at(l.at), c.step});
      ends_ = ends_ || is_end(i.what.kind);
      updates_ = updates_ || i.what.kind == action_kind::optimizer_step;
    }
  }

  bool run() {
    std::sort(entries_.begin(), entries_.end(), [](const entry& a, const entry& b) { return key(a) < key(b); });
    for (const entry& e : entries_) {
      if (e.kind() == action_kind::statistic && !check_used(e)) return false;
      if (e.kind() == action_kind::refresh && !check_summed(e)) return false;
    }
    if (!check_parts()) return false;
    if (!ends_) return true;
    for (const entry& e : entries_)
      if ((e.kind() == action_kind::precondition || e.kind() == action_kind::optimizer_step) && !check_gradient(e))
        return false;
    return check_layers() && check_updates();
  }

 private:
  /// Whether the plan has such an entry, on this device or (−1) on any.
  [[nodiscard]] bool has(action_kind kind, stage_index stage, layer_index layer, brim::side side, std::int32_t cycle,
                         device_index device) const {
    const auto wanted = key(kind, stage, layer, side, cycle, device);
    const auto at =
        std::partition_point(entries_.begin(), entries_.end(), [&](const entry& e) { return key(e) < wanted; });
    if (at == entries_.end()) return false;
    return key(*at) == wanted || (device.value < 0 && key(kind, stage, layer, side, cycle, at->device) == key(*at));
  }
  [[nodiscard]] bool ends_with(action_kind kind, stage_index stage, layer_index layer, std::int32_t step,
                               device_index device) const {
    return has(kind, stage, layer, side::none, step, device);
  }

  static constexpr device_index any_device{-1};
  static constexpr layer_index whole_stage{-1};

  bool check_used(const entry& e) {
    const action& a = e.in->what;
    if (has(action_kind::refresh, a.stage, a.layer, a.side, e.cycle, any_device)) return true;
    if (p_.replicas > 1 && has(action_kind::sync_statistic, a.stage, a.layer, a.side, e.cycle, e.device)) return true;
    return x_.fail_at(e.at, "no refresh uses it");
  }

  /// Statistics of single microbatches are added up over all holders that have any; those of a whole gradient are not.
  bool check_summed(const entry& e) {
    const action& a = e.in->what;
    const auto first = std::partition_point(entries_.begin(), entries_.end(), [&](const entry& o) {
      return key(o) < key(action_kind::statistic, a.stage, a.layer, a.side, e.cycle, any_device);
    });
    const bool of_microbatches =
        first != entries_.end() && first->in->what.microbatch.value >= 0 &&
        key(action_kind::statistic, a.stage, a.layer, a.side, e.cycle, first->device) == key(*first);
    const auto holders = x_.holders_of(a.stage);
    const bool others = p_.replicas > 1 || std::any_of(holders.begin(), holders.end(), [&](const stage_holder& h) {
                          return h.device != e.device && h.microbatches > 0;
                        });
    return !of_microbatches || !others ||
           has(action_kind::sync_statistic, a.stage, a.layer, a.side, e.cycle, e.device) ||
           x_.fail_at(e.at, "nothing adds up the statistics of the stage's other holders (sync_statistic)");
  }

  /// A device that has only a part of a refresh is given the rest.
  bool check_parts() {
    for (std::size_t first = 0, last = 0; first < entries_.size(); first = last) {
      const entry& e = entries_[first];
      while (last < entries_.size() && key(entries_[last]) == key(e)) ++last;
      const action& a = e.in->what;
      if (e.kind() == action_kind::refresh && last - first < static_cast<std::size_t>(e.in->pieces) &&
          !has(action_kind::sync_refresh, a.stage, a.layer, a.side, e.cycle, e.device))
        return x_.fail_at(e.at, "it is a part of a refresh, and nothing gives the device the rest (sync_refresh)");
    }
    return true;
  }

  /// The gradient of a stage with several holders is summed before anything uses it.
  bool check_gradient(const entry& e) {
    const bool alone = p_.replicas == 1 && x_.holders_of(e.in->what.stage).size() == 1;
    return alone || ends_with(action_kind::sync_gradient, e.in->what.stage, whole_stage, e.cycle, e.device) ||
           x_.fail_at(e.at, "nothing adds up the gradient of the stage's other holders (sync_gradient)");
  }

  bool check_layers() {
    for (std::size_t first = 0, last = 0; first < entries_.size(); first = last) {
      const action& a = entries_[first].in->what;
      while (last < entries_.size() && entries_[last].in->what.stage == a.stage &&
             entries_[last].in->what.layer == a.layer)
        ++last;
      if (a.layer.value >= 0 && !check_layer(std::span(entries_).subspan(first, last - first))) return false;
    }
    return true;
  }

  /// In every step a layer's preconditioned gradient comes to every holder of its stage: its own, or a shared one. What a
  /// device refreshes it applies itself, or it gives the matrix to the others; what it applies it has from one of the two.
  bool check_layer(std::span<const entry> layer) {
    const action& a = layer.front().in->what;
    std::vector<device_index> applying, having;
    for (const entry& e : layer) {
      if (e.kind() != action_kind::refresh && e.kind() != action_kind::sync_refresh) continue;
      having.push_back(e.device);
      if (!has(action_kind::sync_refresh, a.stage, a.layer, e.in->what.side, e.cycle, e.device))
        applying.push_back(e.device);
    }
    std::sort(applying.begin(), applying.end());
    std::sort(having.begin(), having.end());
    for (std::int32_t step = 0; step < p_.steps; ++step)
      for (const stage_holder& h : x_.holders_of(a.stage)) {
        const bool own = ends_with(action_kind::precondition, a.stage, a.layer, step, h.device);
        const bool shared = ends_with(action_kind::sync_gradient, a.stage, a.layer, step, h.device);
        const auto is_in = [&](const std::vector<device_index>& some) {
          return std::binary_search(some.begin(), some.end(), h.device);
        };
        const auto wrong = [&](const char* rule) { return fail(a.stage, a.layer, step, h.device, rule); };
        if (!own && is_in(applying)) return wrong("refreshes it, and no precondition uses that");
        if (!own && !shared) return wrong("neither preconditions it nor is given the result");
        if (own && !having.empty() && !is_in(having)) return wrong("preconditions it, and has no matrix");
        if (!own && p_.replicas == 1 && !ends_with(action_kind::precondition, a.stage, a.layer, step, any_device))
          return wrong("is given a result that nobody has made");
      }
    return true;
  }

  /// Either the trainer updates all weights, or the plan does.
  bool check_updates() {
    if (!updates_) return true;
    for (std::int32_t s = 0; s < p_.where.stages; ++s)
      for (const stage_holder& h : x_.holders_of(stage_index(s)))
        for (std::int32_t step = 0; step < p_.steps; ++step)
          if (!ends_with(action_kind::optimizer_step, stage_index(s), whole_stage, step, h.device))
            return fail(stage_index(s), whole_stage, step, h.device, "does not update its weights");
    return true;
  }

  bool fail(stage_index stage, layer_index layer, std::int32_t step, device_index device, const char* rule) {
    return x_.fail(
        text("step ", step, ", stage ", stage.value, layer.value < 0 ? "" : ", layer ",
             layer.value < 0 ? std::string() : std::to_string(layer.value), ": device ", device.value, " ", rule),
        {.device = device.value, .step = step, .stage = stage.value, .layer = layer.value});
  }

  plan_index& x_;
  const plan& p_;
  std::vector<entry> entries_;  ///< by stage, layer, kind, side, cycle, device
  bool ends_ = false;
  bool updates_ = false;
};

}  // namespace brim::detail
