// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/plan/plan.hpp>
#include <brim/plan/second_order_links.hpp>
#include <brim/plan/stream_layout.hpp>
#include <brim/plan/total_order.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace brim::detail {

/// Writes the streams of a plan: compute in order of time, communication in the total order, and the fewest waits
/// between them. Complexity: linear in the instructions; O(log peers) more a transfer for `queue_per_edge`.
class emitter {
 public:
  emitter(plan& p, const total_order& order) : plan_(p), order_(order), layout_(p.where, p.transport) {}

  void run() {
    count();
    const auto cells = static_cast<std::size_t>(plan_.steps) * static_cast<std::size_t>(plan_.where.stages) *
                       static_cast<std::size_t>(plan_.shape.microbatches);
    produced_.assign(cells, {no_instruction, no_instruction});
    received_.assign(cells, {no_instruction, no_instruction});
    index_of_.assign(plan_.timeline.size(), no_instruction);
    for (const communication& c : order_.all()) c.first_member < 0 ? emit_transfer(c) : emit_collective(c);
    for (std::size_t d = 0; d < row_.size(); ++d) flush(device_index(static_cast<std::int64_t>(d)), nullptr);
    drop_empty_streams();
    add_waits();
    number_events();
  }

 private:
  enum : std::size_t { activation = 0, gradient = 1 };

  [[nodiscard]] std::size_t cell(std::int32_t step, std::int32_t stage, std::int32_t microbatch) const {
    return (static_cast<std::size_t>(step) * static_cast<std::size_t>(plan_.where.stages) +
            static_cast<std::size_t>(stage)) *
               static_cast<std::size_t>(plan_.shape.microbatches) +
           static_cast<std::size_t>(microbatch);
  }
  [[nodiscard]] device_index holder(route_index r, std::int32_t stage) const {
    return plan_.where.device_of(r, stage_index(stage));
  }

  /// Both ends of a transfer, and their streams.
  struct ends {
    device_index from, to;
    std::int32_t target_stage;
    bool is_gradient;
  };
  [[nodiscard]] ends ends_of(const communication& c) const {
    const bool back = c.kind == action_kind::send_gradient;
    const std::int32_t target = c.stage + (back ? -1 : 1);
    return {holder(c.route, c.stage), holder(c.route, target), target, back};
  }

  /// Lays out the streams: a first pass counts, so that the second can write every instruction to its final place.
  void count() {
    auto& streams = layout_.streams();
    std::vector<std::uint32_t> size(streams.size(), 0);
    row_.assign(static_cast<std::size_t>(plan_.shape.devices), 0);
    row_end_.assign(row_.size(), 0);
    for (std::size_t i = 0; i < plan_.timeline.size(); ++i) {
      const timed_action& a = plan_.timeline[i];
      row_end_[a.device.at()] = i + 1;
      if (!is_collective(a.what.kind)) ++size[layout_.compute(a.device)];
    }
    for (std::size_t d = 1; d < row_.size(); ++d) {
      row_end_[d] = std::max(row_end_[d], row_end_[d - 1]);
      row_[d] = row_end_[d - 1];
    }
    for (const communication& c : order_.all()) {
      if (c.first_member >= 0) {
        for (const std::uint32_t m : order_.members(c)) ++size[layout_.collective(plan_.timeline[m].device)];
        continue;
      }
      const ends e = ends_of(c);
      ++size[layout_.transfer(e.from, e.to, true, e.is_gradient)];
      ++size[layout_.transfer(e.to, e.from, false, e.is_gradient)];
    }
    std::uint32_t at = 0;
    for (std::size_t s = 0; s < streams.size(); ++s) {
      streams[s].begin = streams[s].end = at;
      at += size[s];
    }
    plan_.instructions.resize(at);
  }

  std::uint32_t put(std::size_t stream, const instruction& i) {
    const std::uint32_t at = layout_.streams()[stream].end++;
    plan_.instructions[at] = i;
    return at;
  }

  /// Emits the compute actions of a device that are issued before the place `until`; all of them for a null pointer.
  void flush(device_index d, const instant* until) {
    for (std::size_t& i = row_[d.at()]; i < row_end_[d.at()]; ++i) {
      const timed_action& a = plan_.timeline[i];
      if (is_collective(a.what.kind)) {
        // What follows the collectives at the end of a step may have been given a time before the slowest member's.
        const bool ends_step = a.what.kind == action_kind::sync_gradient || a.what.kind == action_kind::sync_norm;
        if (ends_step && index_of_[i] == no_instruction && until != nullptr) return;
        continue;
      }
      if (until != nullptr && *until < order_.issued(a)) return;
      emit_compute(i);
    }
  }

  void emit_compute(std::size_t i) {
    const timed_action& a = plan_.timeline[i];
    const std::uint32_t at =
        put(layout_.compute(a.device),
            {.what = a.what, .step = a.step, .origin_step = a.origin_step, .piece = a.piece, .pieces = a.pieces});
    index_of_[i] = at;
    if (!is_pipeline_action(a.what.kind) || a.what.kind == action_kind::backward_weight ||
        a.what.kind == action_kind::recompute)
      return;
    produced_[cell(a.step, a.what.stage.value, a.what.microbatch.value)]
             [a.what.kind == action_kind::forward ? activation : gradient] = at;
  }

  void emit_transfer(const communication& c) {
    const ends e = ends_of(c);
    const std::size_t content = e.is_gradient ? gradient : activation;
    flush(e.from, &c.at);
    flush(e.to, &c.at);
    action sent{
        .kind = c.kind, .route = c.route, .stage = stage_index(c.stage), .microbatch = microbatch_index(c.microbatch)};
    action received = sent;
    received.kind = e.is_gradient ? action_kind::recv_gradient : action_kind::recv_activation;
    received.stage = stage_index(e.target_stage);
    const std::int32_t boundary = std::min(c.stage, e.target_stage);
    const std::int32_t tag = 2 * (boundary * plan_.shape.microbatches + c.microbatch) + (e.is_gradient ? 1 : 0);
    put(layout_.transfer(e.from, e.to, true, e.is_gradient),
        {.what = sent, .peer = e.to, .tag = tag, .step = c.at.step, .origin_step = c.at.step});
    received_[cell(c.at.step, e.target_stage, c.microbatch)][content] =
        put(layout_.transfer(e.to, e.from, false, e.is_gradient),
            {.what = received, .peer = e.from, .tag = tag, .step = c.at.step, .origin_step = c.at.step});
  }

  void emit_collective(const communication& c) {
    for (const std::uint32_t m : order_.members(c)) {
      const timed_action& a = plan_.timeline[m];
      flush(a.device, &c.at);
      index_of_[m] = put(layout_.collective(a.device), {.what = a.what,
                                                        .tag = collectives_,
                                                        .step = a.step,
                                                        .origin_step = a.origin_step,
                                                        .piece = a.piece,
                                                        .pieces = a.pieces});
    }
    ++collectives_;
  }

  void drop_empty_streams() {
    plan_.streams = std::move(layout_.streams());
    std::erase_if(plan_.streams, [](const stream& s) { return s.kind != stream_kind::compute && s.begin == s.end; });
  }

  /// The dependencies of second-order work, by consumer; empty for a pipeline alone.
  [[nodiscard]] std::vector<dependency> second_order() const {
    second_order_links links(plan_);
    std::vector<placed_instruction> on_device;
    std::vector<std::uint32_t> last;
    const auto routes = static_cast<std::size_t>(std::min(plan_.where.routes, plan_.shape.microbatches));
    const auto last_slot = [&](const instruction& i) {
      return (static_cast<std::size_t>(i.step) * static_cast<std::size_t>(plan_.where.stages) + i.what.stage.at()) *
                 routes +
             i.what.route.at();
    };
    const auto last_backward = [&](const instruction& i) {
      const bool runs = i.what.stage.value >= 0 && i.what.route.value >= 0 && i.what.route.at() < routes;
      return runs ? last[last_slot(i)] : no_instruction;
    };
    std::size_t i = 0;
    for (std::size_t d = 0; d < row_end_.size(); ++d) {
      on_device.clear();
      for (; i < row_end_[d]; ++i) {
        const timed_action& a = plan_.timeline[i];
        if (!is_pipeline_action(a.what.kind) && a.what.kind != action_kind::user) {
          if (last.empty())  // only now, since a pipeline alone does not need it
            last.assign(static_cast<std::size_t>(plan_.steps) * static_cast<std::size_t>(plan_.where.stages) * routes,
                        no_instruction);
          on_device.push_back({index_of_[i], a.time});
        }
      }
      if (on_device.empty()) continue;
      for (const stream& s : plan_.streams_of(device_index(static_cast<std::int64_t>(d))))
        for (std::uint32_t at = s.begin; at < s.end; ++at)
          if (is_pipeline_action(plan_.instructions[at].what.kind) &&
              plan_.instructions[at].what.kind != action_kind::forward)
            last[last_slot(plan_.instructions[at])] = at;
      links.add_device(on_device, last_backward);
    }
    return links.take();
  }

  /// What a pipeline action or a send needs from another stream: the transfer of its input, or its producer.
  [[nodiscard]] std::uint32_t input_of(const instruction& i) const {
    const action& a = i.what;
    if (!is_pipeline_action(a.kind) && !is_send(a.kind)) return no_instruction;
    const auto& from = is_send(a.kind) ? produced_ : received_;
    const bool forth = a.kind == action_kind::forward || a.kind == action_kind::send_activation;
    if (a.kind == action_kind::backward_weight || a.kind == action_kind::recompute) return no_instruction;
    return from[cell(i.step, a.stage.value, a.microbatch.value)][forth ? activation : gradient];
  }

  /// Events join the compute stream with one other stream, so a wait is implied by an earlier one if and only if that
  /// one waits for the same place of the same stream or a later one: keeping the latest place is enough to emit the
  /// fewest waits. Until events have numbers, `waits` holds the awaited instruction and `records` only tells whether
  /// an instruction is awaited.
  void add_waits() {
    const std::vector<dependency> links = second_order();
    auto link = links.begin();
    std::vector<std::uint32_t> seen;  // by stream of the device: the place up to which the current stream has waited
    std::vector<std::uint32_t> needed;
    for (std::size_t first = 0, last = 0; first < plan_.streams.size(); first = last) {
      while (last < plan_.streams.size() && plan_.streams[last].device == plan_.streams[first].device) ++last;
      const std::span<const stream> device = std::span(plan_.streams).subspan(first, last - first);
      for (const stream& own : device) {
        seen.assign(own.kind == stream_kind::compute ? device.size() : 1, 0);
        for (std::uint32_t at = own.begin; at < own.end; ++at) {
          instruction& i = plan_.instructions[at];
          needed.clear();
          if (const std::uint32_t input = input_of(i); input != no_instruction) needed.push_back(input);
          for (; link != links.end() && link->consumer == at; ++link) needed.push_back(link->producer);
          i.first_wait = static_cast<std::uint32_t>(plan_.waits.size());
          std::sort(needed.begin(), needed.end(), [](std::uint32_t x, std::uint32_t y) { return x > y; });
          for (const std::uint32_t n : needed) {
            if (n >= own.begin && n < own.end) continue;
            std::size_t s = device.size() - 1;
            while (n < device[s].begin) --s;
            std::uint32_t& done = seen[own.kind == stream_kind::compute ? s : 0];
            if (n < done) continue;
            done = n + 1;
            plan_.waits.emplace_back(n);
            plan_.instructions[n].records = event_index(0);
          }
          i.wait_count = static_cast<std::uint32_t>(plan_.waits.size()) - i.first_wait;
          if (i.wait_count == 0) i.first_wait = 0;
        }
      }
    }
  }

  void number_events() {
    for (instruction& i : plan_.instructions)
      if (i.records.value >= 0) i.records = event_index(plan_.events++);
    for (event_index& w : plan_.waits) w = plan_.instructions[w.at()].records;
    for (instruction& i : plan_.instructions)  // ascending, so that equal plans are equal byte for byte
      std::sort(plan_.waits.begin() + i.first_wait, plan_.waits.begin() + i.first_wait + i.wait_count);
  }

  plan& plan_;
  const total_order& order_;
  stream_layout layout_;
  std::vector<std::size_t> row_, row_end_;  ///< of a device in the timeline: next action, end
  std::vector<std::array<std::uint32_t, 2>>
      produced_;  ///< instruction that makes a (step, stage, microbatch)'s activation, gradient
  std::vector<std::array<std::uint32_t, 2>> received_;  ///< instruction that receives its input
  std::vector<std::uint32_t> index_of_;                 ///< instruction of a timeline entry
  std::int32_t collectives_ = 0;
};

}  // namespace brim::detail
