// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/io/file.hpp>
#include <brim/io/json_writer.hpp>
#include <brim/model/profile.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace brim::detail {

/// How many entries from `at` on are equal: they are written once, with a `count`.
template <class Entry>
std::size_t equal_run(const std::vector<Entry>& entries, std::size_t at) {
  constexpr std::size_t most = std::size_t{1} << 16;
  std::size_t run = 1;
  while (run < most && at + run < entries.size() && entries[at + run] == entries[at]) ++run;
  return run;
}

/// Calls `body(entry)` inside braces, one line for each run of equal entries.
template <class Entry, class Body>
void write_entries(json_writer& out, const std::vector<Entry>& entries, std::size_t indent, Body body) {
  out.begin('[');
  for (std::size_t at = 0, run = 0; at < entries.size(); at += run) {
    run = equal_run(entries, at);
    out.line(indent).begin('{');
    if (run > 1) out.field("count", run);
    body(entries[at]);
    out.end('}');
  }
  out.end(']');
}

inline void write_layer(json_writer& out, const layer_profile& layer) {
  if (!layer.name.empty()) out.field("name", layer.name);
  out.field("inputs", layer.inputs).field("outputs", layer.outputs);
  out.key("statistic").begin('{').field("a", layer.statistic_a).field("b", layer.statistic_b).end('}');
  out.key("refresh").begin('{').field("a", layer.refresh_a).field("b", layer.refresh_b).end('}');
  out.field("precondition", layer.precondition);
  out.key("memory").begin('{').field("saved_inputs", layer.saved_inputs).field("saved_errors", layer.saved_errors);
  out.field("factors", layer.factors).end('}');
}

inline void write_stage(json_writer& out, const stage_profile& stage) {
  const stage_cost& cost = stage.cost;
  out.field("forward", cost.forward)
      .field("backward", cost.backward)
      .field("backward_input", cost.of(action_kind::backward_input));
  out.field("backward_weight", cost.of(action_kind::backward_weight))
      .field("recompute", cost.recompute)
      .field("optimizer_step", cost.optimizer_step);
  const stage_memory& memory = stage.memory;
  out.line(4).key("memory").begin('{').field("weights", memory.weights).field("activations", memory.activations);
  out.field("released_by_backward_input", memory.released_by_backward_input);
  out.field("released_by_backward_weight", memory.released_by_backward_weight).end('}');
  if (stage.layers.empty()) return;
  out.line(4).key("layers");
  write_entries(out, stage.layers, 6, [&](const layer_profile& layer) { write_layer(out, layer); });
}

}  // namespace brim::detail

namespace brim::io {

/// The profile as `brim.profile/1` text in nanoseconds and bytes; `parse_profile` gives the same profile back.
/// Equal neighbours share one entry with a `count`.
[[nodiscard]] inline std::string profile_json(const profile& costs) {
  detail::json_writer out;
  out.begin('{').field("format", "brim.profile/1");
  if (!costs.name.empty()) out.field("name", costs.name);
  if (!costs.source.empty()) out.line(1).field("source", costs.source);
  out.line(1).field("time_unit", "ns").field("memory_unit", "B");
  out.line(1).key("stages");
  detail::write_entries(out, costs.stages, 3, [&](const stage_profile& stage) { detail::write_stage(out, stage); });
  out.line(1).key("links").begin('{').field("latency", costs.links.latency);
  if (!costs.links.p2p.empty()) {
    out.key("p2p").begin('[');
    for (const ticks time : costs.links.p2p) out.value(time);
    out.end(']');
  }
  out.end('}');
  if (!costs.devices.empty()) {
    out.line(1).key("devices");
    detail::write_entries(out, costs.devices, 3, [&](const device_profile& device) {
      out.field("speed", device.speed).field("memory", device.memory);
    });
  }
  return out.end('}').take() + '\n';
}

/// Writes a profile as a whole. Errors: `io_failure`.
inline void write_profile(const std::filesystem::path& path, const profile& costs) {
  write_file(path, profile_json(costs));
}

}  // namespace brim::io
