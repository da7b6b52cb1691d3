// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/text.hpp>
#include <brim/graph/critical_path.hpp>
#include <brim/graph/dot_writer.hpp>
#include <brim/graph/plan_graph.hpp>
#include <brim/graph/task_graph.hpp>

#include <boost/range/iterator_range.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace brim {
namespace detail {

/// What follows a vertex on the critical path; `absent` where nothing does.
inline std::vector<std::size_t> next_on_path(std::size_t count, const critical_path& path) {
  std::vector<std::size_t> next(count, task_index::absent);
  for (std::size_t i = 0; i + 1 < path.vertices.size(); ++i) next[path.vertices[i]] = path.vertices[i + 1];
  return next;
}

/// `"forward\nstage 0\nmicrobatch 3"`, with what else has a meaning.
inline std::string dot_label(const action& a) {
  std::string label(name_of(a.kind));
  if (a.stage.value >= 0) label += text("\nstage ", a.stage.value);
  if (a.microbatch.value >= 0) label += text("\nmicrobatch ", a.microbatch.value);
  if (a.route.value > 0) label += text("\nroute ", a.route.value);
  if (a.layer.value >= 0) label += text("\nlayer ", a.layer.value);
  if (a.side != side::none) label += text("\nside ", name_of(a.side));
  return label;
}

}  // namespace detail

/// The task graph as Graphviz DOT: a cluster for each device, a colour for each kind of action, dashed edges for the
/// order of a device, and `bold` drawn bold. Draw it with `dot -Tsvg`; some hundred actions are still readable.
/// Complexity: O(actions).
[[nodiscard]] inline std::string to_dot(const task_graph& graph, const critical_path& bold = {}) {
  const std::vector<std::size_t> next = detail::next_on_path(num_vertices(graph), bold);
  std::vector<bool> critical(num_vertices(graph), false);
  for (const std::size_t v : bold.vertices) critical[v] = true;
  detail::dot_writer out(detail::text(graph.scheme(), ": ", to_string(graph.shape())));
  std::size_t v = 0;
  for (const device_index d : devices(graph.shape())) {
    out.open_cluster(d.value, detail::text("device ", d.value));
    for (; v < num_vertices(graph) && graph.device_of(v) == d; ++v) {
      out.vertex(v, detail::dot_label(graph[v]), detail::dot_color(graph[v].kind), critical[v] ? ", penwidth=3" : "");
    }
    out.close_cluster();
  }
  for (const auto& e : boost::make_iterator_range(edges(graph)))
    out.edge(e.source, e.target,
             detail::text(e.kind == task_dependency::device ? "style=dashed" : "style=solid",
                          next[e.source] == e.target ? ", penwidth=3" : ""));
  return std::move(out).finish();
}

/// The graph of a plan as Graphviz DOT: a cluster for each device and in it one for each stream, dashed edges for the
/// order of a stream, dotted ones for transfers, solid ones for events. Complexity: O(instructions + waits).
template <program_like Program>
[[nodiscard]] std::string to_dot(const plan_graph<Program>& graph) {
  const Program& program = graph.program();
  detail::dot_writer out(detail::text(program.scheme, ": ", to_string(program.shape)));
  std::int64_t cluster = program.shape.devices;
  for (std::size_t k = 0; k < program.streams.size(); ++k) {
    const auto& stream = program.streams[k];
    if (k == 0 || program.streams[k - 1].device != stream.device)
      out.open_cluster(stream.device.value, detail::text("device ", stream.device.value));
    out.open_cluster(cluster++, name_of(stream.kind));
    for (std::size_t v = stream.begin; v < stream.end; ++v) {
      std::string label = detail::dot_label(graph[v].what);
      if (graph[v].step > 0) label += detail::text("\nstep ", graph[v].step);
      out.vertex(v, label, detail::dot_color(graph[v].what.kind), "");
    }
    out.close_cluster();
    if (k + 1 == program.streams.size() || program.streams[k + 1].device != stream.device) out.close_cluster();
  }
  for (const plan_edge& e : boost::make_iterator_range(edges(graph)))
    out.edge(e.source, e.target,
             e.kind == plan_dependency::stream     ? "style=dashed"
             : e.kind == plan_dependency::transfer ? "style=dotted"
                                                   : "style=solid");
  return std::move(out).finish();
}

}  // namespace brim
