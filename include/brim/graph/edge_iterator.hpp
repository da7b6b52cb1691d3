// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/iterator/iterator_facade.hpp>
#include <cstddef>
#include <cstdint>

namespace brim::detail {

enum class edge_end : std::uint8_t { source, target };

/// Walks the edges of a graph in which a vertex has at most one edge of each kind: slot `kinds * v + k` is the edge of
/// kind `k` that leaves (`edge_end::source`) or enters (`edge_end::target`) vertex `v`. Empty slots are skipped.
template <class Graph, edge_end End>
class edge_iterator : public boost::iterator_facade<edge_iterator<Graph, End>, typename Graph::edge_descriptor,
                                                    boost::forward_traversal_tag, typename Graph::edge_descriptor> {
 public:
  edge_iterator() = default;
  edge_iterator(const Graph& graph, std::size_t slot, std::size_t last) : graph_(&graph), slot_(slot), last_(last) {
    skip_empty();
  }

 private:
  friend class boost::iterator_core_access;

  [[nodiscard]] typename Graph::edge_descriptor dereference() const { return at_slot(); }
  [[nodiscard]] bool equal(const edge_iterator& other) const { return slot_ == other.slot_; }
  void increment() {
    ++slot_;
    skip_empty();
  }

  void skip_empty() {
    while (slot_ != last_ && is_empty(at_slot())) ++slot_;
  }
  [[nodiscard]] static bool is_empty(const typename Graph::edge_descriptor& e) {
    return e.source == Graph::null_vertex() || e.target == Graph::null_vertex();
  }
  [[nodiscard]] typename Graph::edge_descriptor at_slot() const {
    const std::size_t v = slot_ / Graph::edge_kinds;
    const auto kind = static_cast<typename Graph::edge_kind>(slot_ % Graph::edge_kinds);
    if constexpr (End == edge_end::source)
      return {v, graph_->successor(v, kind), kind};
    else
      return {graph_->predecessor(v, kind), v, kind};
  }

  const Graph* graph_ = nullptr;
  std::size_t slot_ = 0;
  std::size_t last_ = 0;
};

}  // namespace brim::detail
