// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/graph/graph_traits.hpp>
#include <brim/graph/plan_edges.hpp>

#include <boost/graph/properties.hpp>
#include <cstddef>
#include <utility>

namespace brim {

/// The instructions of a plan and what each waits for, as a Boost.Graph. A view: instructions stay where they are.
///
/// Vertices are positions in `instructions`; edges are the order of each stream, events, and transfers from send to
/// receive. The members of a collective are not joined, since each waits for the others; nor does a send wait for its
/// receive, as it does under some transports.
/// Models IncidenceGraph, BidirectionalGraph, VertexListGraph, EdgeListGraph, with `vertex_index`.
/// Complexity: O(instructions + waits), O(transfers log transfers) to pair them, once; O(1) for every edge; 24 bytes an edge.
/// Errors: `bad_plan` for a position out of range, an event without a recorder or with two, a transfer with two ends of
/// one kind. Instructions that wait for one another are accepted: that is a cycle.
/// The plan must outlive the graph.
template <program_like Program>
class plan_graph : public detail::graph_traits {
 public:
  using edge_kind = plan_dependency;
  using edge_descriptor = plan_edge;
  using out_edge_iterator = const plan_edge*;
  using in_edge_iterator = const plan_edge*;
  using edge_iterator = const plan_edge*;

  explicit plan_graph(const Program& program) : program_(&program), edges_(program) {}
  explicit plan_graph(const Program&&) = delete;  // would dangle

  [[nodiscard]] static constexpr vertex_descriptor null_vertex() { return static_cast<vertex_descriptor>(-1); }
  [[nodiscard]] const Program& program() const { return *program_; }
  /// The instruction of a vertex.
  [[nodiscard]] const auto& operator[](vertex_descriptor v) const { return program_->instructions[v]; }

  friend std::size_t num_vertices(const plan_graph& g) { return g.program_->instructions.size(); }
  friend std::size_t num_edges(const plan_graph& g) { return g.edges_.outgoing.size(); }
  friend std::pair<vertex_iterator, vertex_iterator> vertices(const plan_graph& g) {
    return {vertex_iterator(0), vertex_iterator(num_vertices(g))};
  }
  friend std::pair<edge_iterator, edge_iterator> edges(const plan_graph& g) {
    return {g.edges_.outgoing.data(), g.edges_.outgoing.data() + num_edges(g)};
  }
  friend std::pair<out_edge_iterator, out_edge_iterator> out_edges(vertex_descriptor v, const plan_graph& g) {
    return g.edges_.out_of(v);
  }
  friend std::pair<in_edge_iterator, in_edge_iterator> in_edges(vertex_descriptor v, const plan_graph& g) {
    return g.edges_.into(v);
  }
  friend vertex_descriptor source(const plan_edge& e, const plan_graph&) { return e.source; }
  friend vertex_descriptor target(const plan_edge& e, const plan_graph&) { return e.target; }
  friend std::size_t out_degree(vertex_descriptor v, const plan_graph& g) { return count(g.edges_.out_of(v)); }
  friend std::size_t in_degree(vertex_descriptor v, const plan_graph& g) { return count(g.edges_.into(v)); }
  friend std::size_t degree(vertex_descriptor v, const plan_graph& g) { return in_degree(v, g) + out_degree(v, g); }
  friend vertex_index_map get(boost::vertex_index_t, const plan_graph&) { return {}; }

 private:
  static std::size_t count(const std::pair<const plan_edge*, const plan_edge*>& range) {
    return static_cast<std::size_t>(range.second - range.first);
  }

  const Program* program_;
  detail::plan_edges edges_;
};

}  // namespace brim

/// What BGL's algorithms use unless they are told otherwise.
template <class Program>
struct boost::property_map<brim::plan_graph<Program>, boost::vertex_index_t> {
  using type = brim::detail::graph_traits::vertex_index_map;
  using const_type = type;
};
