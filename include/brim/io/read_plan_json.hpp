// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/io/file.hpp>
#include <brim/io/json_cursor.hpp>
#include <brim/io/plan_placement.hpp>
#include <brim/plan/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace brim::detail {

/// Room for plans of about a million actions.
inline constexpr json_limits plan_limits{.size = std::size_t{512} << 20U, .values = std::size_t{1} << 26U, .depth = 8};

class plan_reader {
 public:
  plan_reader(const json_tape& tape, std::string_view origin) : in_(tape, origin) {}

  plan read() {
    json_cursor::postponed metrics;
    json_cursor::postponed timeline;
    json_cursor::postponed program;
    in_.object(required_field("format",
                              [&] {
                                if (in_.string(64) != "brim.plan/1")
                                  in_.fail_field("unknown format; expected \"brim.plan/1\"");
                              }),
               required_field("scheme", [&] { made_.scheme = in_.string(256); }),
               required_field("shape", [&] { shape(); }), required_field("transport", [&] { transport(); }),
               required_field("time_unit",
                              [&] {
                                if (in_.string(16) != "ns") in_.fail_field("expected \"ns\": plans are in nanoseconds");
                              }),
               required_field("steps", [&] { made_.steps = int32(1, most_steps); }),
               required_field("step_length", [&] { made_.step_length = in_.integer(0, longest_schedule); }),
               required_field("events", [&] { made_.events = int32(0, most); }),
               optional_field("metrics", [&] { metrics = in_.postpone(); }),
               required_field("timeline", [&] { timeline = in_.postpone(); }),
               required_field("program", [&] { program = in_.postpone(); }));
    if (made_.step_length > longest_schedule / made_.steps) in_.fail_field("steps * step_length is more than 2^61");
    if (metrics.at != 0) {
      in_.go_back(metrics);
      read_metrics();
    }
    in_.go_back(timeline);
    in_.array([&](std::size_t) { timed(); });
    in_.go_back(program);
    in_.array([&](std::size_t) { one_stream(); });
    check_size();
    place();
    return std::move(made_);
  }

 private:
  static constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  static constexpr std::int64_t most_steps = std::int64_t{1} << 20;
  static constexpr std::int64_t most_cells = std::int64_t{1} << 20;

  std::int32_t int32(std::int64_t least, std::int64_t greatest) {
    return static_cast<std::int32_t>(in_.integer(least, greatest));
  }
  template <class Index>
  void index(Index& to, std::int64_t count) {
    to = Index(in_.integer(0, count - 1));
  }

  void shape() {
    pipeline_shape& shape = made_.shape;
    placement& where = made_.where;
    in_.object(required_field("devices", [&] { shape.devices = int32(1, most_cells); }),
               required_field("stages", [&] { where.stages = int32(1, most); }),
               required_field("chunks", [&] { shape.chunks = int32(1, most_cells); }),
               required_field("microbatches", [&] { shape.microbatches = int32(1, most); }),
               required_field("routes", [&] { where.routes = int32(1, std::numeric_limits<std::int16_t>::max()); }),
               required_field("pairs", [&] { shape.pairs = int32(1, most_cells); }),
               required_field("replicas", [&] { made_.replicas = int32(1, most); }),
               optional_field("replica", [&] { made_.replica = int32(0, most); }), optional_field("holders", [&] {
                 in_.array([&](std::size_t) { where.holders.emplace_back(in_.integer(0, most)); });
               }));
    where.devices = shape.devices;
    if (made_.replica >= made_.replicas) in_.fail_field("replica must be less than replicas");
  }
  void transport() {
    const auto found = transport_named(in_.string(64));
    if (!found)
      in_.fail_field(
          "unknown transport; expected buffered, one_queue, queue_per_direction, queue_per_edge or blocking");
    made_.transport = *found;
  }

  void read_metrics() {
    plan_metrics& m = made_.metrics;
    const auto real = [&] { return in_.number(-1e18, 1e18, "a number"); };
    const auto devices = [&](auto& list, auto read) {
      in_.array([&](std::size_t at) {
        if (at >= static_cast<std::size_t>(made_.shape.devices)) in_.fail_field("more entries than devices");
        list.push_back(read());
      });
    };
    in_.object(optional_field("makespan", [&] { m.makespan = in_.integer(0, longest_schedule); }),
               optional_field("spans", [&] { devices(m.spans, [&] { return in_.integer(0, longest_schedule); }); }),
               optional_field("period", [&] { m.period = in_.integer(0, longest_schedule); }),
               optional_field("bubble_ratio", [&] { m.bubble_ratio = real(); }),
               optional_field("utilization", [&] { m.utilization = real(); }),
               optional_field("lower_bound", [&] { m.lower_bound = in_.integer(0, longest_schedule); }),
               optional_field(
                   "peak_memory",
                   [&] { devices(m.peak_memory, [&] { return in_.integer(-longest_schedule, longest_schedule); }); }),
               optional_field("refresh_interval", [&] { devices(m.refresh_interval, real); }));
  }

  void kind(action& what) {
    const std::string_view name = in_.string(64);
    for (std::size_t k = 0; k < action_kind_count; ++k)
      if (name == name_of(static_cast<action_kind>(k))) {
        what.kind = static_cast<action_kind>(k);
        return;
      }
    in_.fail_field(text("there is no action ", in_.quoted(name)));
  }
  void side(action& what) {
    const std::string_view name = in_.string(16);
    if (name != "a" && name != "b") in_.fail_field("expected \"a\" or \"b\"");
    what.side = name == "a" ? brim::side::a : brim::side::b;
  }

  /// Reads an entry: the fields of an action and of its place in the cycle, and `more`.
  template <class Entry, class... More>
  void entry(Entry& e, std::string_view name, const More&... more) {
    std::int32_t late_origin = most_origin;
    in_.object(required_field(name, [&] { kind(e.what); }),
               optional_field("route", [&] { index(e.what.route, made_.where.routes); }),
               optional_field("stage", [&] { index(e.what.stage, made_.where.stages); }),
               optional_field("microbatch", [&] { index(e.what.microbatch, made_.shape.microbatches); }),
               optional_field("layer", [&] { index(e.what.layer, most); }),
               optional_field("side", [&] { side(e.what); }),
               optional_field("step", [&] { e.step = int32(0, made_.steps - 1); }),
               optional_field("origin_step", [&] { late_origin = int32(-most_steps, most_steps); }),
               optional_field("piece", [&] { e.piece = int32(0, most); }),
               optional_field("pieces", [&] { e.pieces = int32(1, most); }), more...);
    e.origin_step = late_origin == most_origin ? e.step : late_origin;
    if (e.origin_step > e.step) in_.fail_field("origin_step is later than step");
    if (e.piece >= e.pieces) in_.fail_field("piece must be less than pieces");
  }
  static constexpr std::int32_t most_origin = std::numeric_limits<std::int32_t>::max();

  void timed() {
    timed_action a;
    entry(a, "action", required_field("device", [&] { index(a.device, made_.shape.devices); }),
          required_field("start", [&] { a.time.start = in_.integer(0, longest_schedule); }),
          required_field("end", [&] { a.time.end = in_.integer(0, longest_schedule); }));
    if (a.time.end < a.time.start) in_.fail_field("it ends before it starts");
    const auto order = [](const timed_action& x) { return std::tuple(x.device, x.step, x.time.start); };
    if (!made_.timeline.empty() && order(a) < order(made_.timeline.back()))
      in_.fail_field("out of order; expected the entries by device, step and start");
    made_.timeline.push_back(a);
  }

  void one_stream() {
    stream s;
    s.begin = static_cast<std::uint32_t>(made_.instructions.size());
    in_.object(required_field("device", [&] { index(s.device, made_.shape.devices); }),
               required_field("stream",
                              [&] {
                                const std::string_view name = in_.string(64);
                                const auto found = stream_kind_named(name);
                                if (!found) in_.fail_field(text("there is no stream ", in_.quoted(name)));
                                s.kind = *found;
                              }),
               optional_field("peer", [&] { index(s.peer, made_.shape.devices); }),
               required_field("instructions", [&] { in_.array([&](std::size_t) { one_instruction(); }); }));
    s.end = static_cast<std::uint32_t>(made_.instructions.size());
    if (!made_.streams.empty() && s.device < made_.streams.back().device)
      in_.fail_field("out of order; expected the streams device by device");
    made_.streams.push_back(s);
  }

  void one_instruction() {
    instruction i;
    i.first_wait = static_cast<std::uint32_t>(made_.waits.size());
    entry(i, "op", optional_field("peer", [&] { index(i.peer, made_.shape.devices); }),
          optional_field("tag", [&] { i.tag = int32(0, most); }),
          optional_field("waits",
                         [&] {
                           in_.array([&](std::size_t) {
                             made_.waits.emplace_back(in_.integer(0, std::int64_t{made_.events} - 1));
                           });
                         }),
          optional_field("records", [&] { index(i.records, made_.events); }));
    i.wait_count = static_cast<std::uint32_t>(made_.waits.size()) - i.first_wait;
    if (i.wait_count == 0) i.first_wait = 0;
    made_.instructions.push_back(i);
  }

  /// A few bytes may not stand for a shape that needs gigabytes: every cell of a plan has an instruction.
  void check_size() const {
    const auto entries = static_cast<std::int64_t>(made_.instructions.size() + made_.timeline.size());
    const std::int64_t stages = made_.where.stages;
    const std::int64_t rows = std::max<std::int64_t>(made_.where.routes, made_.shape.microbatches);
    if (stages > (most_cells + entries) / rows)
      in_.fail_field(text("the shape has ", stages, " stages for ", rows, " microbatches or routes, far more than the ",
                          entries, " entries of the plan"));
    if (made_.events > entries)
      in_.fail_field(text("there are ", made_.events, " events, more than the ", entries, " entries of the plan"));
  }

  void place() {
    placement& where = made_.where;
    if (where.holders.empty()) {
      where.holders = placement_of_plan(made_);
      const auto gap = std::find(where.holders.begin(), where.holders.end(), device_index(-1));
      if (gap != where.holders.end()) {
        const auto at = gap - where.holders.begin();
        in_.fail_field(
            text("no action tells which device holds stage ", at % where.stages, " of route ", at / where.stages));
      }
      return;
    }
    if (where.holders.size() != static_cast<std::size_t>(where.routes) * static_cast<std::size_t>(where.stages))
      in_.fail_field("shape.holders: expected one device for each stage of each route");
    for (const device_index d : where.holders)
      if (d.value >= made_.shape.devices) in_.fail_field(text("shape.holders: there is no device ", d.value));
  }

  json_cursor in_;
  plan made_;
};

}  // namespace brim::detail

namespace brim::io {

/// Reads a plan (`brim.plan/1`, docs/reference/io.md) from JSON text. What it says is well-formed afterwards: every
/// index is within the shape, entries stand in order. Whether the plan is *right* is the question of `verify`.
///
/// Complexity: linear; at most 512 MiB of text. Errors: `bad_file`, with line and column where the text is not JSON,
/// otherwise with the path of the field, its value and what was expected.
[[nodiscard]] inline plan parse_plan_json(std::string_view text, std::string_view origin = "plan") {
  const detail::json_tape tape = detail::read_json(text, origin, detail::plan_limits);
  return detail::plan_reader(tape, origin).read();
}

/// `parse_plan_json` of a file. Errors: also `io_failure`.
[[nodiscard]] inline plan read_plan_json(const std::filesystem::path& path) {
  return parse_plan_json(read_file(path, detail::plan_limits.size), path.string());
}

}  // namespace brim::io
