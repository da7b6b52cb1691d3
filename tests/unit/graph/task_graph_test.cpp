// SPDX-License-Identifier: Apache-2.0
#include <brim/graph/task_graph.hpp>
#include <brim/graph/topological_order.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/schedule/static_plan.hpp>
#include <brim/scheme/scheme.hpp>

#include <doctest/doctest.h>
#include <boost/concept/assert.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <boost/graph/topological_sort.hpp>
#include <boost/graph/visitors.hpp>
#include <boost/range/iterator_range.hpp>

#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>

namespace {

using brim::task_dependency;
using brim::task_graph;

BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<task_graph>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<task_graph>));
BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<task_graph>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<task_graph>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyMapConcept<task_graph::vertex_index_map, std::size_t>));

// A graph of a temporary would dangle.
static_assert(std::is_constructible_v<task_graph, const brim::order&>);
static_assert(!std::is_constructible_v<task_graph, brim::order>);
static_assert(std::is_constructible_v<task_graph, const brim::timeline&>);
static_assert(!std::is_constructible_v<task_graph, brim::timeline>);
static_assert(std::is_constructible_v<task_graph, brim::timeline_view>);

using edge_set = std::set<std::tuple<std::size_t, std::size_t, std::string>>;

template <class Range>
edge_set as_set(const Range& edges) {
  edge_set found;
  for (const task_graph::edge_descriptor& e : edges) found.emplace(e.source, e.target, name_of(e.kind));
  return found;
}

brim::order order_of(brim::pipeline_shape shape) { return brim::make_order(brim::schemes::one_f_one_b{}, shape); }

/// Two devices, one microbatch, backward in halves: 0 forward, 1 input half, 2 weight half; 3, 4, 5 the same of
/// stage 1.
brim::order split_order() {
  brim::order program = order_of({.devices = 2});
  program.actions.clear();
  brim::order_sink out(program.actions);
  for (const brim::stage_index s : brim::index_range<brim::stage_index>(2)) {
    out.forward(s, brim::microbatch_index(0));
    out.backward_input(s, brim::microbatch_index(0));
    out.backward_weight(s, brim::microbatch_index(0));
  }
  program.offsets = {0, 3, 6};
  return program;
}

}  // namespace

TEST_CASE("task graph: the edges of 1F1B on two devices with two microbatches, by hand") {
  // device 0: 0 forward 0, 1 forward 1, 2 backward 0, 3 backward 1; device 1: 4 forward 0, 5 backward 0, 6, 7 the same
  // of 1
  const brim::order program = order_of({.devices = 2, .microbatches = 2});
  const task_graph graph(program);
  CHECK(num_vertices(graph) == 8);
  CHECK(as_set(boost::make_iterator_range(edges(graph))) == edge_set{{0, 1, "device"},
                                                                     {1, 2, "device"},
                                                                     {2, 3, "device"},
                                                                     {4, 5, "device"},
                                                                     {5, 6, "device"},
                                                                     {6, 7, "device"},
                                                                     {0, 4, "activation"},
                                                                     {1, 6, "activation"},
                                                                     {5, 2, "gradient"},
                                                                     {7, 3, "gradient"},
                                                                     {0, 2, "kept"},
                                                                     {1, 3, "kept"},
                                                                     {4, 5, "kept"},
                                                                     {6, 7, "kept"}});
  CHECK(num_edges(graph) == 14);
  CHECK(out_degree(0, graph) == 3);
  CHECK(in_degree(2, graph) == 3);
  CHECK(degree(5, graph) == 4);
  CHECK(graph.device_of(3) == brim::device_index(0));
  CHECK(graph[7].kind == brim::action_kind::backward);
}

TEST_CASE("task graph: a weight half waits for its input half, which alone gives the gradient") {
  const brim::order program = split_order();
  const task_graph graph(program);
  CHECK(as_set(boost::make_iterator_range(edges(graph))) == edge_set{{0, 1, "device"},
                                                                     {1, 2, "device"},
                                                                     {3, 4, "device"},
                                                                     {4, 5, "device"},
                                                                     {0, 3, "activation"},
                                                                     {4, 1, "gradient"},
                                                                     {0, 1, "kept"},
                                                                     {3, 4, "kept"},
                                                                     {1, 2, "kept"},
                                                                     {4, 5, "kept"}});
}

TEST_CASE("task graph: edges in are the edges out, seen from the other side") {
  const brim::order split = split_order();
  const brim::order chimera = brim::make_order(brim::schemes::chimera{}, {.devices = 4, .microbatches = 5});
  for (const brim::order* program : {&split, &chimera}) {
    const task_graph graph(*program);
    edge_set incoming;
    for (const std::size_t v : boost::make_iterator_range(vertices(graph))) {
      for (const auto& e : boost::make_iterator_range(in_edges(v, graph))) CHECK(target(e, graph) == v);
      incoming.merge(as_set(boost::make_iterator_range(in_edges(v, graph))));
    }
    CHECK(incoming == as_set(boost::make_iterator_range(edges(graph))));
    CHECK(incoming.size() == num_edges(graph));
  }
}

TEST_CASE("task graph: a timeline, its view and a constant have the graph of their order") {
  const brim::pipeline_shape shape{.devices = 3, .microbatches = 4};
  const brim::timeline timeline = simulate(brim::schemes::gpipe{}, shape, brim::uniform_cost{});
  static constexpr auto fixed =
      brim::static_plan<brim::schemes::gpipe{}, brim::pipeline_shape{.devices = 3, .microbatches = 4}>(
          brim::uniform_cost{});
  const edge_set expected = as_set(boost::make_iterator_range(edges(task_graph(timeline.program))));
  CHECK(as_set(boost::make_iterator_range(edges(task_graph(timeline)))) == expected);
  CHECK(as_set(boost::make_iterator_range(edges(task_graph(timeline.view())))) == expected);
  CHECK(as_set(boost::make_iterator_range(edges(task_graph(fixed)))) == expected);
}

TEST_CASE("task graph: Boost's algorithms find all that they need") {
  const brim::order program = order_of({.devices = 4, .microbatches = 6});
  const task_graph graph(program);
  std::vector<std::size_t> sorted;
  boost::topological_sort(graph, std::back_inserter(sorted));  // in reverse
  CHECK(sorted.size() == num_vertices(graph));
  std::vector<std::size_t> reverse_sorted;
  const auto reversed = boost::make_reverse_graph(graph);
  boost::topological_sort(reversed, std::back_inserter(reverse_sorted));
  CHECK(reverse_sorted.size() == num_vertices(graph));
  CHECK(sorted.back() == 0);           // all wait for the first forward
  CHECK(reverse_sorted.back() == 11);  // which all that device 0 has to do waits for in the end
  std::vector<std::size_t> distances(num_vertices(graph), 0);
  boost::breadth_first_search(
      graph, 0,
      boost::visitor(boost::make_bfs_visitor(boost::record_distances(distances.data(), boost::on_tree_edge{}))));
  CHECK(distances[11] == 4);  // forward 0, backward 0, forward 4, backward 4, backward 5
}

TEST_CASE("task graph: an order that deadlocks has a cycle") {
  brim::order program = order_of({.devices = 2, .microbatches = 2});
  std::swap(program.actions[0], program.actions[2]);  // backward 0 first
  try {
    (void)topological_order(task_graph(program));
    FAIL("a cycle was sorted");
  } catch (const brim::error& e) {
    CHECK(e.code() == brim::error_code::deadlock);
    CHECK(std::string(e.what()).find("which waits for it in turn") != std::string::npos);
  }
}

TEST_CASE("task graph: an order without some actions has fewer edges") {
  brim::order program = order_of({.devices = 2, .microbatches = 1});
  program.actions.pop_back();  // backward of stage 1
  --program.offsets.back();
  const task_graph graph(program);
  CHECK(as_set(boost::make_iterator_range(edges(graph))) ==
        edge_set{{0, 1, "device"}, {0, 1, "kept"}, {0, 2, "activation"}});
}

TEST_CASE("task graph: what is no order is refused, with the place") {
  const auto complaint = [](auto spoil) -> std::string {
    brim::order program = order_of({.devices = 2, .microbatches = 2});
    spoil(program.actions[1]);
    try {
      const task_graph graph(program);
    } catch (const brim::error& e) {
      CHECK(e.code() == brim::error_code::bad_order);
      CHECK(e.site().device == 0);
      return e.what();
    }
    return "accepted";
  };
  using brim::action;
  const auto says = [&](auto spoil, const char* words) { return complaint(spoil).find(words) != std::string::npos; };
  CHECK(says([](action& a) { a.microbatch = brim::microbatch_index(0); },
             "1f1b: device 0: forward stage 0 microbatch 0: it stands twice"));
  CHECK(says([](action& a) { a.stage = brim::stage_index(1); }, "another device holds this stage"));
  CHECK(says([](action& a) { a.stage = brim::stage_index(2); }, "no such stage"));
  CHECK(says([](action& a) { a.stage = brim::stage_index(-1); }, "no such stage"));
  CHECK(says([](action& a) { a.microbatch = brim::microbatch_index(2); }, "no such microbatch"));
  CHECK(says([](action& a) { a.microbatch = brim::microbatch_index(-1); }, "no such microbatch"));
  CHECK(says([](action& a) { a.route = brim::route_index(1); }, "no such route"));
  CHECK(says([](action& a) { a.kind = brim::action_kind::refresh; }, "holds only forwards and backwards"));
}
