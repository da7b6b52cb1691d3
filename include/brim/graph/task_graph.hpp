// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/graph/concepts.hpp>
#include <brim/graph/dependency.hpp>
#include <brim/graph/edge_iterator.hpp>
#include <brim/graph/graph_traits.hpp>
#include <brim/graph/task_index.hpp>

#include <boost/graph/properties.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

namespace brim {

/// The actions of one step and what each waits for, as a Boost.Graph. A view: actions stay where they are, edges are
/// computed when asked for.
///
/// Vertices are positions in the array of actions; a vertex has at most one edge of each `task_dependency` in and out. Two
/// actions may be joined twice, e.g. by `device` and `kept`.
/// Models IncidenceGraph, BidirectionalGraph, VertexListGraph, EdgeListGraph, with `vertex_index`.
/// Complexity: O(actions) once, for an index of 4 bytes for each kind, stage and microbatch; O(1) for every edge.
/// Errors: `bad_order` for an action twice, on the wrong device or of a kind that no order holds. Missing actions and
/// orders that deadlock are accepted: the first have fewer edges, the second a cycle.
/// The actions must outlive the graph.
class task_graph : public detail::graph_traits {
 public:
  using edge_kind = task_dependency;
  static constexpr std::size_t edge_kinds = 4;
  struct edge_descriptor {
    std::size_t source = 0;
    std::size_t target = 0;
    task_dependency kind = task_dependency::device;
    friend bool operator==(const edge_descriptor&, const edge_descriptor&) = default;
  };

  using out_edge_iterator = detail::edge_iterator<task_graph, detail::edge_end::source>;
  using in_edge_iterator = detail::edge_iterator<task_graph, detail::edge_end::target>;
  using edge_iterator = out_edge_iterator;

  explicit task_graph(const order& program)
      : task_graph(detail::rows{program.scheme, program.shape, program.where.stages, program.where.holders,
                                program.actions, program.offsets}) {}
  template <action_rows Rows>
  explicit task_graph(const Rows& rows)
      : task_graph(detail::rows{rows.scheme, rows.shape, rows.stages, rows.holders, rows.actions, rows.offsets}) {}
  template <lends_action_rows Owner>
  explicit task_graph(const Owner& owner) : task_graph(owner.view()) {}
  explicit task_graph(order&&) = delete;  // would dangle
  template <lends_action_rows Owner>
    requires(!std::is_lvalue_reference_v<Owner>)
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): constrained away from copies
  explicit task_graph(Owner&&) = delete;

  [[nodiscard]] static constexpr vertex_descriptor null_vertex() { return detail::task_index::absent; }
  [[nodiscard]] std::string_view scheme() const { return rows_.scheme; }
  [[nodiscard]] const pipeline_shape& shape() const { return rows_.shape; }
  [[nodiscard]] const action& operator[](vertex_descriptor v) const { return rows_.actions[v]; }
  [[nodiscard]] device_index device_of(vertex_descriptor v) const { return rows_.device_of(rows_.actions[v]); }

  /// The one vertex that waits for `v` in this way, or `null_vertex()`.
  [[nodiscard]] vertex_descriptor successor(vertex_descriptor v, task_dependency kind) const;
  /// The one vertex that `v` waits for in this way, or `null_vertex()`.
  [[nodiscard]] vertex_descriptor predecessor(vertex_descriptor v, task_dependency kind) const;

  friend std::size_t num_vertices(const task_graph& g) { return g.rows_.actions.size(); }
  friend std::size_t num_edges(const task_graph& g) { return g.edges_; }
  friend std::pair<vertex_iterator, vertex_iterator> vertices(const task_graph& g) {
    return {vertex_iterator(0), vertex_iterator(num_vertices(g))};
  }
  friend std::pair<edge_iterator, edge_iterator> edges(const task_graph& g) {
    return g.slots<out_edge_iterator>(0, num_vertices(g));
  }
  friend std::pair<out_edge_iterator, out_edge_iterator> out_edges(vertex_descriptor v, const task_graph& g) {
    return g.slots<out_edge_iterator>(v, v + 1);
  }
  friend std::pair<in_edge_iterator, in_edge_iterator> in_edges(vertex_descriptor v, const task_graph& g) {
    return g.slots<in_edge_iterator>(v, v + 1);
  }
  friend vertex_descriptor source(const edge_descriptor& e, const task_graph&) { return e.source; }
  friend vertex_descriptor target(const edge_descriptor& e, const task_graph&) { return e.target; }
  friend std::size_t out_degree(vertex_descriptor v, const task_graph& g) { return g.count<out_edge_iterator>(v); }
  friend std::size_t in_degree(vertex_descriptor v, const task_graph& g) { return g.count<in_edge_iterator>(v); }
  friend std::size_t degree(vertex_descriptor v, const task_graph& g) { return in_degree(v, g) + out_degree(v, g); }
  friend vertex_index_map get(boost::vertex_index_t, const task_graph&) { return {}; }

 private:
  explicit task_graph(const detail::rows& rows) : rows_(rows), index_(rows) {
    const auto [first, last] = edges(*this);
    edges_ = static_cast<std::size_t>(std::distance(first, last));
  }
  template <class Iterator>
  [[nodiscard]] std::pair<Iterator, Iterator> slots(std::size_t first, std::size_t last) const {
    return {Iterator(*this, edge_kinds * first, edge_kinds * last),
            Iterator(*this, edge_kinds * last, edge_kinds * last)};
  }
  template <class Iterator>
  [[nodiscard]] std::size_t count(vertex_descriptor v) const {
    const auto [first, last] = slots<Iterator>(v, v + 1);
    return static_cast<std::size_t>(std::distance(first, last));
  }

  detail::rows rows_;
  detail::task_index index_;
  std::size_t edges_ = 0;
};

inline task_graph::vertex_descriptor task_graph::successor(vertex_descriptor v, task_dependency kind) const {
  using enum action_kind;
  const action& a = rows_.actions[v];
  const std::int32_t s = a.stage.value;
  switch (kind) {
    case task_dependency::device: return v + 1 < rows_.offsets[device_of(v).at() + 1] ? v + 1 : null_vertex();
    case task_dependency::activation:
      return a.kind == forward ? index_.find(forward, s + 1, a.microbatch) : null_vertex();
    case task_dependency::gradient:
      return a.kind == backward || a.kind == backward_input ? index_.find(backward, s - 1, a.microbatch)
                                                            : null_vertex();
    case task_dependency::kept:
      if (a.kind == forward) return index_.find(backward, s, a.microbatch);
      return a.kind == backward_input ? index_.find(backward_weight, s, a.microbatch) : null_vertex();
  }
  return null_vertex();
}

inline task_graph::vertex_descriptor task_graph::predecessor(vertex_descriptor v, task_dependency kind) const {
  using enum action_kind;
  const action& a = rows_.actions[v];
  const std::int32_t s = a.stage.value;
  switch (kind) {
    case task_dependency::device: return v > rows_.offsets[device_of(v).at()] ? v - 1 : null_vertex();
    case task_dependency::activation:
      return a.kind == forward ? index_.find(forward, s - 1, a.microbatch) : null_vertex();
    case task_dependency::gradient:
      return a.kind == backward || a.kind == backward_input ? index_.find(backward, s + 1, a.microbatch)
                                                            : null_vertex();
    case task_dependency::kept:
      if (a.kind == backward_weight) {
        const std::size_t half = index_.find(backward, s, a.microbatch);
        return half != null_vertex() && rows_.actions[half].kind == backward_input ? half : null_vertex();
      }
      return a.kind == forward ? null_vertex() : index_.find(forward, s, a.microbatch);
  }
  return null_vertex();
}

}  // namespace brim

/// What BGL's algorithms use unless they are told otherwise.
template <>
struct boost::property_map<brim::task_graph, boost::vertex_index_t> {
  using type = brim::task_graph::vertex_index_map;
  using const_type = type;
};
