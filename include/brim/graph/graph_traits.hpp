// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/property_map/property_map.hpp>
#include <cstddef>

namespace brim::detail {

/// The nested types that Boost.Graph asks for and that brim's graphs share: vertices are 0 … n − 1, edges can be walked
/// both ways.
struct graph_traits {
  using vertex_descriptor = std::size_t;
  using directed_category = boost::bidirectional_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
  struct traversal_category : boost::bidirectional_graph_tag,
                              boost::vertex_list_graph_tag,
                              boost::edge_list_graph_tag {};
  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  using vertex_iterator = boost::counting_iterator<vertex_descriptor>;
  using vertex_index_map = boost::typed_identity_property_map<std::size_t>;
};

}  // namespace brim::detail
