// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/graph/task_graph.hpp>

#include <algorithm>
#include <boost/property_map/property_map.hpp>
#include <cstddef>

namespace brim {

/// How long each action takes: a readable property map over the vertices of a task graph, from costs or from a timeline
/// of the same actions. Graph and source must outlive it.
template <weight_source Source>
class duration_map {
 public:
  using key_type = task_graph::vertex_descriptor;
  using value_type = ticks;
  using reference = ticks;
  using category = boost::readable_property_map_tag;

  duration_map(const task_graph& graph, const Source& source) : graph_(&graph), source_(&source) {}

  friend ticks get(const duration_map& map, key_type v) {
    if constexpr (cost_model<Source>)
      return map.source_->duration((*map.graph_)[v], map.graph_->device_of(v));
    else
      return map.source_->times[v].end - map.source_->times[v].start;
  }

 private:
  const task_graph* graph_;
  const Source* source_;
};

/// How long the result of an action is on its way: a readable property map over the edges of a task graph. 0 within a
/// device. Graph and source must outlive it.
template <weight_source Source>
class transfer_map {
 public:
  using key_type = task_graph::edge_descriptor;
  using value_type = ticks;
  using reference = ticks;
  using category = boost::readable_property_map_tag;

  transfer_map(const task_graph& graph, const Source& source) : graph_(&graph), source_(&source) {}

  friend ticks get(const transfer_map& map, const key_type& e) {
    const task_graph& g = *map.graph_;
    if (g.device_of(e.source) == g.device_of(e.target)) return 0;
    const stage_index lower = std::min(g[e.source].stage, g[e.target].stage);
    if constexpr (cost_model<Source>)
      return map.source_->transfer(lower);
    else
      return map.source_->transfers[lower.at()];
  }

 private:
  const task_graph* graph_;
  const Source* source_;
};

}  // namespace brim
