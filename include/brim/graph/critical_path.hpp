// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/graph/topological_order.hpp>
#include <brim/graph/weights.hpp>

#include <algorithm>
#include <boost/range/iterator_range.hpp>
#include <cstddef>
#include <vector>

namespace brim {

/// The chain of vertices that decides how long everything takes, and the freedom of the others.
struct critical_path {
  ticks length = 0;
  std::vector<std::size_t> vertices;  ///< from the first to the last; empty for an empty graph
  std::vector<ticks> earliest;        ///< start of every vertex if nothing is delayed
  std::vector<ticks> slack;           ///< by how much every vertex can be late without adding to `length`

  friend bool operator==(const critical_path&, const critical_path&) = default;
};

/// The longest path through a graph without cycles, of which there may be several: the one that is returned is the same
/// on every machine.
///
/// `Graph` models VertexListGraph and IncidenceGraph, with vertices 0 … n − 1; `durations` gives the time of a vertex,
/// `delays` the time that an edge adds to that of its source. Complexity: O(vertices + edges). Errors: `deadlock`.
template <class Graph, class Durations, class Delays>
[[nodiscard]] critical_path longest_path(const Graph& graph, const Durations& durations, const Delays& delays) {
  const std::size_t count = num_vertices(graph);
  const std::vector<std::size_t> sorted = topological_order(graph);
  critical_path path{
      .length = 0, .vertices = {}, .earliest = std::vector<ticks>(count, 0), .slack = std::vector<ticks>(count, 0)};
  std::vector<std::size_t> binding(count, count);  // what a vertex waits for longest; `count` for nothing
  std::size_t last = count;
  for (const std::size_t v : sorted) {
    const ticks end = path.earliest[v] + get(durations, v);
    if (last == count || end > path.length) {
      path.length = end;
      last = v;
    }
    for (const auto& e : boost::make_iterator_range(out_edges(v, graph))) {
      const std::size_t next = target(e, graph);
      const ticks ready = end + get(delays, e);
      if (binding[next] != count && ready <= path.earliest[next]) continue;
      path.earliest[next] = ready;
      binding[next] = v;
    }
  }
  for (std::size_t v = last; v != count; v = binding[v]) path.vertices.push_back(v);
  std::reverse(path.vertices.begin(), path.vertices.end());
  std::vector<ticks> latest(count, path.length);  // latest end that delays nobody
  // NOLINTNEXTLINE(modernize-loop-convert): the order is walked from its end
  for (auto v = sorted.rbegin(); v != sorted.rend(); ++v) {
    for (const auto& e : boost::make_iterator_range(out_edges(*v, graph))) {
      const std::size_t next = target(e, graph);
      latest[*v] = std::min(latest[*v], latest[next] - get(durations, next) - get(delays, e));
    }
    path.slack[*v] = latest[*v] - get(durations, *v) - path.earliest[*v];
  }
  return path;
}

/// The critical path of a step whose actions cost this much. `earliest` is when `simulate` starts them, `length` its
/// makespan. Errors: `deadlock`.
template <weight_source Source>
[[nodiscard]] critical_path critical_path_of(const task_graph& graph, const Source& source) {
  return longest_path(graph, duration_map<Source>(graph, source), transfer_map<Source>(graph, source));
}

/// The critical path of a timeline, whichever arrays it lives in.
template <class Timeline>
  requires timed_rows<Timeline> && (lends_action_rows<Timeline> || action_rows<Timeline>)
[[nodiscard]] critical_path critical_path_of(const Timeline& timeline) {
  return critical_path_of(task_graph(timeline), timeline);
}

}  // namespace brim
