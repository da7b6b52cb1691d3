// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/sort_key.hpp>
#include <brim/plan/placed_actions.hpp>
#include <brim/plan/plan.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace brim::detail {

inline constexpr std::uint32_t no_instruction = 0xffffffffU;

/// The step of the cycle to which `origin_step` belongs, and in which repetition after it the entry runs.
struct refresh_cycle {
  std::int32_t step = 0;
  std::int64_t repetition = 0;

  refresh_cycle(std::int32_t entry_step, std::int32_t origin_step, std::int32_t steps) {
    const std::int64_t rest = std::int64_t{origin_step} % steps;
    step = static_cast<std::int32_t>(rest < 0 ? rest + steps : rest);
    repetition = (step + std::int64_t{entry_step} - origin_step) / steps;
  }
};

/// What an instruction needs from another stream of its device.
struct dependency {
  std::uint32_t consumer = no_instruction;
  std::uint32_t producer = no_instruction;

  friend constexpr auto operator<=>(const dependency&, const dependency&) = default;
};

/// An instruction that is no forward, backward or transfer, with its time.
struct placed_instruction {
  std::uint32_t at = no_instruction;
  interval time;
};

/// Finds the dependencies between the collectives of one device and the work before and after them. They join entries
/// of the same repetition only: between two repetitions a device waits for all of its streams anyway.
/// Complexity: O(n log n) in the entries of the device, which are few beside the pipeline's.
class second_order_links {
 public:
  explicit second_order_links(const plan& p) : plan_(p) {}

  /// `last_backward(instruction)` gives the last backward of its stage in its step.
  template <class LastBackward>
  void add_device(const std::vector<placed_instruction>& on_device, const LastBackward& last_backward) {
    entries_.clear();
    for (const placed_instruction& i : on_device) {
      const instruction& in = plan_.instructions[i.at];
      const refresh_cycle c(in.step, in.origin_step, plan_.steps);
      entries_.push_back({&in, i.at, c.step, c.repetition, i.time});
    }
    link_refresh_cycles();
    link_gradients(last_backward);
    link_norms();
    link_exchanges();
  }

  /// All of them, by consumer.
  [[nodiscard]] std::vector<dependency> take() {
    std::sort(links_.begin(), links_.end());
    return std::move(links_);
  }

 private:
  struct entry {
    const instruction* in;
    std::uint32_t at;
    std::int32_t cycle;
    std::int64_t repetition;
    interval time;

    [[nodiscard]] action_kind kind() const { return in->what.kind; }
    [[nodiscard]] std::int32_t phase() const { return phase_of(in->what); }
  };

  void link(std::uint32_t consumer, std::uint32_t producer) {
    if (producer != no_instruction) links_.push_back({consumer, producer});
  }

  /// Sorts by `group`, then `within`; calls `begin()` for each new group and `visit(entry)` for each of its entries.
  template <class Group, class Within, class Begin, class Visit>
  void for_groups(const Group& group, const Within& within, const Begin& begin, const Visit& visit) {
    std::sort(entries_.begin(), entries_.end(), [&](const entry& x, const entry& y) {
      return sort_key(group(x), within(x)) < sort_key(group(y), within(y));
    });
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (i == 0 || group(entries_[i - 1]) != group(entries_[i])) begin();
      visit(entries_[i]);
    }
  }

  /// One refresh cycle of one side: statistics, their sum, refreshes, their exchange.
  void link_refresh_cycles() {
    std::uint32_t statistic = no_instruction, sum = no_instruction;
    std::vector<const instruction*> refreshes;
    for_groups(
        [](const entry& e) {
          return sort_key(e.in->what.stage, e.in->what.layer, e.in->what.side, e.cycle, e.repetition);
        },
        [](const entry& e) { return sort_key(e.phase(), e.at); },
        [&] {
          statistic = sum = no_instruction;
          refreshes.clear();
        },
        [&](const entry& e) {
          if (e.kind() == action_kind::statistic) statistic = e.at;
          if (e.kind() == action_kind::sync_statistic) link(e.at, statistic), sum = e.at;
          if (e.kind() == action_kind::refresh) link(e.at, sum), refreshes.push_back(e.in);
          if (e.kind() == action_kind::sync_refresh) link(e.at, exchanged_by(*e.in, refreshes));
        });
  }

  /// The last refresh that an exchange covers: its own piece where both are cut alike, else all of them.
  [[nodiscard]] std::uint32_t exchanged_by(const instruction& exchange,
                                           const std::vector<const instruction*>& refreshes) const {
    const instruction* last = nullptr;
    for (const instruction* r : refreshes)
      if (exchange.pieces != r->pieces || r->piece <= exchange.piece) last = r;
    if (last != nullptr) return static_cast<std::uint32_t>(last - plan_.instructions.data());
    return no_instruction;
  }

  /// The sum of a stage's gradient follows its last backward, every precondition the sum, the exchange of a layer's result
  /// its precondition, and the update all of them.
  template <class LastBackward>
  void link_gradients(const LastBackward& last_backward) {
    std::uint32_t sum = no_instruction, last = no_instruction;
    std::vector<const entry*> conditions;  // by layer
    for_groups([](const entry& e) { return sort_key(e.in->step, e.in->what.stage); },
               [](const entry& e) { return sort_key(e.phase(), e.in->what.layer, e.at); },
               [&] {
                 sum = last = no_instruction;
                 conditions.clear();
               },
               [&](const entry& e) {
                 if (e.kind() == action_kind::precondition) link(e.at, sum), conditions.push_back(&e);
                 if (e.kind() == action_kind::optimizer_step) link(e.at, last);
                 if (e.kind() != action_kind::sync_gradient) return;
                 link(e.at, last_backward(*e.in));
                 link(e.at, last_of_layer(conditions, e.in->what.layer));
                 if (e.in->what.layer.value < 0) sum = later(sum, e.at);
                 last = later(last, e.at);
               });
  }

  static std::uint32_t later(std::uint32_t x, std::uint32_t y) { return x == no_instruction || x < y ? y : x; }

  static std::uint32_t last_of_layer(const std::vector<const entry*>& conditions, layer_index layer) {
    const auto end = std::partition_point(conditions.begin(), conditions.end(),
                                          [layer](const entry* c) { return c->in->what.layer <= layer; });
    return end == conditions.begin() || (*(end - 1))->in->what.layer != layer ? no_instruction : (*(end - 1))->at;
  }

  /// A norm belongs to no stage: it follows every precondition of its step, and every update of weights follows it.
  void link_norms() {
    std::uint32_t conditioned = no_instruction, norm = no_instruction;
    for_groups([](const entry& e) { return e.in->step; }, [](const entry& e) { return sort_key(e.phase(), e.at); },
               [&] { conditioned = norm = no_instruction; },
               [&](const entry& e) {
                 if (e.kind() == action_kind::precondition) conditioned = e.at;
                 if (e.kind() == action_kind::sync_norm) link(e.at, conditioned), norm = e.at;
                 if (e.kind() == action_kind::optimizer_step) link(e.at, norm);
               });
  }

  /// A matrix whose exchange ends before a precondition of its layer starts is used by it.
  void link_exchanges() {
    std::uint32_t last = no_instruction;
    for_groups([](const entry& e) { return sort_key(e.in->what.stage, e.in->what.layer); },
               [](const entry& e) {
                 const bool exchange = e.kind() == action_kind::sync_refresh;
                 return sort_key(exchange ? e.time.end : e.time.start, !exchange, e.at);
               },
               [&] { last = no_instruction; },
               [&](const entry& e) {
                 if (e.kind() == action_kind::sync_refresh) last = later(last, e.at);
                 if (e.kind() == action_kind::precondition) link(e.at, last);
               });
  }

  const plan& plan_;
  std::vector<entry> entries_;
  std::vector<dependency> links_;
};

}  // namespace brim::detail
