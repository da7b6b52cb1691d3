// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/io/file.hpp>
#include <brim/io/json_writer.hpp>
#include <brim/io/plan_placement.hpp>
#include <brim/plan/plan.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace brim::detail {

class plan_writer {
 public:
  explicit plan_writer(const plan& p) : p_(p) {}

  std::string write() {
    out_.begin('{').field("format", "brim.plan/1").field("scheme", p_.scheme);
    shape();
    out_.line(1).field("transport", name_of(p_.transport)).field("time_unit", "ns");
    out_.line(1).field("steps", p_.steps).field("step_length", p_.step_length).field("events", p_.events);
    metrics();
    out_.line(1).key("timeline").begin('[');
    for (const timed_action& a : p_.timeline) entry(a);
    out_.end(']');
    out_.line(1).key("program").begin('[');
    for (const stream& s : p_.streams) {
      out_.line(2).begin('{').field("device", s.device.value).field("stream", name_of(s.kind));
      if (s.peer.value >= 0) out_.field("peer", s.peer.value);
      out_.key("instructions").begin('[');
      for (const instruction& i : p_.instructions_of(s)) entry(i);
      out_.end(']').end('}');
    }
    return out_.end(']').end('}').take() + '\n';
  }

 private:
  void shape() {
    out_.line(1)
        .key("shape")
        .begin('{')
        .field("devices", p_.shape.devices)
        .field("stages", p_.where.stages)
        .field("chunks", p_.shape.chunks);
    out_.field("microbatches", p_.shape.microbatches).field("routes", p_.where.routes).field("pairs", p_.shape.pairs);
    out_.field("replicas", p_.replicas);
    if (p_.replica != 0) out_.field("replica", p_.replica);
    if (placement_of_plan(p_) != p_.where.holders) {  // rare: a stage that no action names
      out_.key("holders").begin('[');
      for (const device_index d : p_.where.holders) out_.value(d.value);
      out_.end(']');
    }
    out_.end('}');
  }

  void metrics() {
    const plan_metrics& m = p_.metrics;
    out_.line(1).key("metrics").begin('{').field("makespan", m.makespan);
    list("spans", m.spans);
    out_.field("period", m.period)
        .field("bubble_ratio", m.bubble_ratio)
        .field("utilization", m.utilization)
        .field("lower_bound", m.lower_bound);
    list("peak_memory", m.peak_memory);
    list("refresh_interval", m.refresh_interval);
    out_.end('}');
  }
  template <class Value>
  void list(std::string_view name, const std::vector<Value>& values) {
    out_.key(name).begin('[');
    for (const Value& v : values) out_.value(v);
    out_.end(']');
  }

  void entry(const timed_action& a) {
    out_.line(2).begin('{').field("device", a.device.value).field("step", a.step);
    if (a.origin_step != a.step) out_.field("origin_step", a.origin_step);
    what("action", a.what);
    pieces(a.piece, a.pieces);
    out_.field("start", a.time.start).field("end", a.time.end).end('}');
  }
  void entry(const instruction& i) {
    out_.line(3).begin('{');
    what("op", i.what);
    if (p_.steps > 1 || i.step != 0) out_.field("step", i.step);
    if (i.origin_step != i.step) out_.field("origin_step", i.origin_step);
    pieces(i.piece, i.pieces);
    if (i.peer.value >= 0) out_.field("peer", i.peer.value);
    if (i.tag >= 0) out_.field("tag", i.tag);
    if (i.wait_count > 0) {
      out_.key("waits").begin('[');
      for (const event_index e : p_.waits_of(i)) out_.value(e.value);
      out_.end(']');
    }
    if (i.records.value >= 0) out_.field("records", i.records.value);
    out_.end('}');
  }
  void what(std::string_view field, const action& a) {
    out_.field(field, name_of(a.kind));
    if (a.stage.value >= 0 || a.route.value != 0) out_.field("route", a.route.value);
    if (a.stage.value >= 0) out_.field("stage", a.stage.value);
    if (a.microbatch.value >= 0) out_.field("microbatch", a.microbatch.value);
    if (a.layer.value >= 0) out_.field("layer", a.layer.value);
    if (a.side != side::none) out_.field("side", name_of(a.side));
  }
  void pieces(std::int32_t piece, std::int32_t pieces) {
    if (pieces != 1 || piece != 0) out_.field("piece", piece).field("pieces", pieces);
  }

  const plan& p_;
  json_writer out_;
};

}  // namespace brim::detail

namespace brim::io {

/// The plan as `brim.plan/1` text: the same bytes for the same plan on every machine, one entry a line.
/// `parse_plan_json` gives the same plan back.
[[nodiscard]] inline std::string plan_json(const plan& p) { return detail::plan_writer(p).write(); }

/// Writes a plan as a whole. Errors: `io_failure`.
inline void write_plan_json(const std::filesystem::path& path, const plan& p) { write_file(path, plan_json(p)); }

}  // namespace brim::io
