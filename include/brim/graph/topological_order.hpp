// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>

#include <algorithm>
#include <boost/graph/depth_first_search.hpp>
#include <cstddef>
#include <vector>

namespace brim {
namespace detail {

/// Collects vertices after everything that they lead to.
struct finish_order : boost::default_dfs_visitor {
  std::vector<std::size_t>* found;

  explicit finish_order(std::vector<std::size_t>& into) : found(&into) {}

  template <class Graph>
  void finish_vertex(std::size_t v, const Graph&) const {
    found->push_back(v);
  }
  template <class Edge, class Graph>
  void back_edge(const Edge& e, const Graph& graph) const {
    raise(error_code::deadlock, text("the graph has a cycle: vertex ", target(e, graph), " waits for vertex ",
                                     source(e, graph), ", which waits for it in turn"));
  }
};

}  // namespace detail

/// An order of the vertices in which each stands after all that it waits for; the same on every machine.
/// `Graph` models VertexListGraph and IncidenceGraph, with vertices 0 … n − 1. Complexity: O(vertices + edges).
/// Errors: `deadlock` where there is no such order.
template <class Graph>
[[nodiscard]] std::vector<std::size_t> topological_order(const Graph& graph) {
  std::vector<std::size_t> found;
  found.reserve(num_vertices(graph));
  boost::depth_first_search(graph, boost::visitor(detail::finish_order(found)));
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace brim
