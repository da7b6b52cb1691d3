// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/text.hpp>
#include <brim/fill/filled.hpp>
#include <brim/io/file.hpp>
#include <brim/io/json_writer.hpp>
#include <brim/io/kept_memory.hpp>
#include <brim/model/concepts.hpp>
#include <brim/schedule/memory.hpp>
#include <brim/schedule/timeline.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace brim::io {

struct trace_options {
  std::int32_t steps = 0;  ///< at most so many steps of the refresh cycle; 0: the whole cycle
};

}  // namespace brim::io

namespace brim::detail {

/// Counts the microbatches that a device keeps, where the caller gives no memory model.
struct live_microbatches : uniform_memory {};

/// Writes Chrome trace events: a process for each device, with lanes (threads) for computation, second-order work and
/// communication. Slices of one lane never overlap, which is what viewers require.
template <class Memory>
class trace_painter {
 public:
  trace_painter(const timeline_view& pipeline, const Memory& memory)
      : t_(pipeline),
        memory_(memory),
        resident_(resident_memory(pipeline, memory)) {
    out_.begin('{').field("displayTimeUnit", "ms").key("traceEvents").begin('[');
    devices_ = t_.shape.devices;
    locate_forwards();
  }

  /// The pipeline's actions of one step of one replica.
  void step(std::int32_t step, std::int32_t replica, ticks offset) {
    for (const device_index d : devices(t_.shape)) {
      const std::int32_t process = replica * devices_ + d.value;
      const auto actions = t_.row(d);
      const auto times = t_.times_of(d);
      for (std::size_t i = 0; i < actions.size(); ++i) {
        slice(process, compute_lane, actions[i], {times[i].start + offset, times[i].end + offset}, step, step, 0, 1);
        transfer(d, actions[i], times[i], step, replica, offset);
      }
      memory(d, process, offset);
    }
  }
  /// Work of a fill. Collectives go to the communication lanes.
  void work(const placed_work& w, std::int32_t step, ticks offset) {
    const std::int32_t process = w.replica * devices_ + w.device.value;
    const interval time{w.time.start + offset, w.time.end + offset};
    const std::int32_t first = is_collective(w.what.kind) ? communication_lane : second_order_lane;
    slice(process, free_lane(process, first, time), w.what, time, step, step - (w.step - w.origin_step), w.piece,
          w.pieces);
  }
  /// What a device keeps for statistics, as a counter of its own.
  void kept(const kept_memory& changes, std::int32_t replicas) {
    for (std::int32_t process = 0; process < replicas * devices_; ++process) {
      bytes used = 0;
      const std::vector<memory_change>& all = changes.of(static_cast<std::size_t>(process));
      for (std::size_t i = 0; i < all.size(); ++i) {
        used += all[i].change;
        if (i + 1 == all.size() || all[i + 1].at != all[i].at)
          counter(process, "kept for statistics", "bytes", all[i].at, used);
      }
    }
  }
  /// Names of processes and lanes come last, when the lanes in use are known.
  std::string finish(std::int32_t replicas) {
    for (std::int32_t replica = 0; replica < replicas; ++replica)
      for (const device_index d : devices(t_.shape)) {
        const std::int32_t process = replica * devices_ + d.value;
        const std::string name =
            replicas > 1 ? text("replica ", replica, " device ", d.value) : text("device ", d.value);
        metadata(process, -1, "process_name", name);
        number_metadata(process, -1, "process_sort_index", process);
        metadata(process, compute_lane, "thread_name", "compute");
        number_metadata(process, compute_lane, "thread_sort_index", compute_lane);
      }
    for (const auto& [lane, busy_until] : lanes_) {
      const bool communication = lane.second >= communication_lane;
      metadata(lane.first, lane.second, "thread_name", communication ? "communication" : "second order");
      number_metadata(lane.first, lane.second, "thread_sort_index", lane.second);
    }
    out_.close_line(0).end(']').key("otherData").begin('{').field("scheme", t_.scheme).end('}').end('}');
    return out_.take() + '\n';
  }

 private:
  static constexpr std::int32_t compute_lane = 0;
  static constexpr std::int32_t second_order_lane = 1;  ///< 1 … 999: as many as overlapping work needs
  static constexpr std::int32_t communication_lane = 1000;

  /// Where the action that produces or uses a microbatch's data starts, by (stage, microbatch).
  void locate_forwards() {
    const auto cells = static_cast<std::size_t>(t_.stages) * static_cast<std::size_t>(t_.shape.microbatches);
    forwards_.assign(cells, {-1, -1});
    backwards_.assign(cells, {-1, -1});
    for (std::size_t i = 0; i < t_.actions.size(); ++i) {
      const action& a = t_.actions[i];
      if (a.kind == action_kind::forward) forwards_[cell(a.stage.value, a.microbatch.value)] = t_.times[i];
      if (a.kind == action_kind::backward || a.kind == action_kind::backward_input)
        backwards_[cell(a.stage.value, a.microbatch.value)] = t_.times[i];
    }
  }
  [[nodiscard]] std::size_t cell(std::int32_t stage, std::int32_t microbatch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(t_.shape.microbatches) +
           static_cast<std::size_t>(microbatch);
  }

  /// The flow from a producer to the consumer on another device, and the time on the link as a slice.
  void transfer(device_index from, const action& producer, const interval& made, std::int32_t step,
                std::int32_t replica, ticks offset) {
    const bool activation = producer.kind == action_kind::forward;
    if (!activation && producer.kind != action_kind::backward && producer.kind != action_kind::backward_input) return;
    const std::int32_t to_stage = producer.stage.value + (activation ? 1 : -1);
    if (to_stage < 0 || to_stage >= t_.stages) return;
    const device_index to = t_.device_of(producer.route, stage_index(to_stage));
    if (to == from) return;
    const interval used = (activation ? forwards_ : backwards_)[cell(to_stage, producer.microbatch.value)];
    if (used.start < 0) return;
    const std::int32_t sender = replica * devices_ + from.value;
    const std::int32_t receiver = replica * devices_ + to.value;
    const ticks time = t_.transfers[static_cast<std::size_t>(activation ? producer.stage.value : to_stage)];
    if (time > 0) {
      action sending = producer;
      sending.kind = activation ? action_kind::send_activation : action_kind::send_gradient;
      const interval on_link{made.end + offset, made.end + time + offset};
      slice(sender, free_lane(sender, communication_lane, on_link), sending, on_link, step, step, 0, 1);
    }
    const std::string_view name = activation ? "activation" : "gradient";
    ++flows_;
    // A flow binds to the slice that encloses its time, so it leaves just before the producer ends.
    flow('s', name, sender, std::max(made.start, made.end - 1) + offset);
    flow('f', name, receiver, used.start + offset);
  }
  void flow(char phase, std::string_view name, std::int32_t process, ticks at) {
    out_.line(0).begin('{').field("ph", std::string_view(&phase, 1));
    if (phase == 'f') out_.field("bp", "e");
    out_.field("id", flows_)
        .field("name", name)
        .field("cat", name)
        .field("pid", process)
        .field("tid", compute_lane)
        .key("ts")
        .raw(microseconds(at));
    out_.end('}');
  }

  /// The first lane from `first` on that is idle during `time`.
  std::int32_t free_lane(std::int32_t process, std::int32_t first, const interval& time) {
    for (std::int32_t lane = first;; ++lane) {
      ticks& busy_until = lanes_[{process, lane}];
      if (busy_until > time.start) continue;
      busy_until = std::max(busy_until, time.end);
      return lane;
    }
  }

  void slice(std::int32_t process, std::int32_t lane, const action& what, const interval& time, std::int32_t step,
             std::int32_t origin, std::int32_t piece, std::int32_t pieces) {
    std::string name(name_of(what.kind));  // the kind first: Perfetto colours by name
    if (what.side != side::none) name += text(' ', name_of(what.side));
    if (what.microbatch.value >= 0) name += text(" m", what.microbatch.value);
    if (what.layer.value >= 0) name += text(" layer ", what.layer.value);
    if (pieces > 1) name += text(" piece ", piece, '/', pieces);
    out_.line(0)
        .begin('{')
        .field("ph", "X")
        .field("name", name)
        .field("cat", name_of(what.kind))
        .field("pid", process)
        .field("tid", lane);
    out_.key("ts")
        .raw(microseconds(time.start))
        .key("dur")
        .raw(microseconds(time.length()))
        .key("args")
        .begin('{')
        .field("step", step);
    if (origin != step) out_.field("origin_step", origin);
    if (what.stage.value >= 0) out_.field("route", what.route.value).field("stage", what.stage.value);
    if (what.microbatch.value >= 0) out_.field("microbatch", what.microbatch.value);
    if (what.layer.value >= 0) out_.field("layer", what.layer.value);
    if (what.side != side::none) out_.field("side", name_of(what.side));
    out_.end('}').end('}');
  }

  void memory(device_index d, std::int32_t process, ticks offset) {
    const auto actions = t_.row(d);
    const auto times = t_.times_of(d);
    bytes used = resident_[d.at()];
    counter(process, offset, used);
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const bytes at_start = memory_.at_start(actions[i], d);
      const bytes at_end = memory_.at_end(actions[i], d);
      used = bounded_sum(used, at_start);
      if (at_start != 0) counter(process, times[i].start + offset, used);
      used = bounded_sum(used, at_end);
      if (at_end != 0) counter(process, times[i].end + offset, used);
    }
  }
  void counter(std::int32_t process, ticks at, bytes used) {
    constexpr bool counts = std::same_as<Memory, live_microbatches>;
    counter(process, counts ? "live microbatches" : "live memory", counts ? "count" : "bytes", at, used);
  }
  void counter(std::int32_t process, std::string_view name, std::string_view unit, ticks at, bytes used) {
    out_.line(0).begin('{').field("ph", "C").field("name", name).field("pid", process);
    out_.key("ts").raw(microseconds(at)).key("args").begin('{').field(unit, used).end('}').end('}');
  }

  void metadata(std::int32_t process, std::int32_t lane, std::string_view what, std::string_view name) {
    begin_metadata(process, lane, what).field("name", name).end('}').end('}');
  }
  void number_metadata(std::int32_t process, std::int32_t lane, std::string_view what, std::int32_t index) {
    begin_metadata(process, lane, what).field("sort_index", index).end('}').end('}');
  }
  json_writer& begin_metadata(std::int32_t process, std::int32_t lane, std::string_view what) {
    out_.line(0).begin('{').field("ph", "M").field("name", what).field("pid", process);
    if (lane >= 0) out_.field("tid", lane);
    return out_.key("args").begin('{');
  }

  /// Nanoseconds as microseconds, exactly.
  static std::string microseconds(ticks time) {
    std::string out = text(time / 1000);
    if (time % 1000 != 0) {
      std::string rest = text(time % 1000 + 1000);
      while (rest.back() == '0') rest.pop_back();
      rest.front() = '.';
      out += rest;
    }
    return out;
  }

  timeline_view t_;
  const Memory& memory_;
  std::vector<bytes> resident_;  ///< by device
  std::int32_t devices_ = 1;
  std::int64_t flows_ = 0;
  std::vector<interval> forwards_, backwards_;
  std::map<std::pair<std::int32_t, std::int32_t>, ticks> lanes_;  ///< (process, lane) → busy until
  json_writer out_;
};

}  // namespace brim::detail

namespace brim::io {

/// A timeline as Chrome trace events (JSON), for Perfetto and chrome://tracing.
///
/// Each device is a process with the lanes compute, second order and communication, and a counter of the memory in use.
/// Flows lead from the producer of an activation or gradient to its consumer. Times are exact: microseconds with three
/// decimals.
template <memory_model Memory>
[[nodiscard]] std::string chrome_trace(const timeline_view& t, const Memory& memory) {
  detail::trace_painter<Memory> painter(t, memory);
  painter.step(0, 0, 0);
  return painter.finish(1);
}
/// The counter shows the microbatches that are kept, not bytes.
[[nodiscard]] inline std::string chrome_trace(const timeline_view& t) {
  return chrome_trace(t, detail::live_microbatches{});
}

/// The steps of a refresh cycle one after the other. Statistics of an earlier cycle have a negative `origin_step`. With
/// a `profile` as the memory model, a second counter shows the inputs and errors kept for statistics.
template <memory_model Memory>
[[nodiscard]] std::string chrome_trace(const filled& f, const Memory& memory, const trace_options& options = {}) {
  detail::trace_painter<Memory> painter(f.pipeline, memory);
  const std::int32_t steps = options.steps > 0 ? std::min(options.steps, f.cycle_length) : f.cycle_length;
  for (std::int32_t step = 0; step < steps; ++step) {
    const ticks offset = step * f.step_length;
    for (std::int32_t replica = 0; replica < f.replicas; ++replica) painter.step(step, replica, offset);
    for (const placed_work& w : f.work)
      if (w.step == step) painter.work(w, step, offset);
    for (const placed_work& w : f.tail) painter.work(w, step, offset);
  }
  if constexpr (std::same_as<Memory, profile>) painter.kept(detail::kept_memory(f, memory, steps), f.replicas);
  return painter.finish(f.replicas);
}
[[nodiscard]] inline std::string chrome_trace(const filled& f, const trace_options& options = {}) {
  return chrome_trace(f, detail::live_microbatches{}, options);
}

/// Writes a trace as a whole; `what` is a timeline or a filled timeline, then as for `chrome_trace`.
/// Errors: `io_failure`.
template <class What, class... More>
void write_chrome_trace(const std::filesystem::path& path, const What& what, const More&... more) {
  write_file(path, chrome_trace(what, more...));
}

}  // namespace brim::io
