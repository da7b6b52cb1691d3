// SPDX-License-Identifier: Apache-2.0
#include <brim/graph/critical_path.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/schedule/static_plan.hpp>
#include <brim/scheme/scheme.hpp>

#include <doctest/doctest.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/property_map/property_map.hpp>

#include <archetypes.hpp>
#include <vector>

namespace {

using brim::ticks;
using costs_map = brim::duration_map<brim::uniform_cost>;
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyMapConcept<costs_map, std::size_t>));
using delays_map = brim::transfer_map<brim::timeline>;
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyMapConcept<delays_map, brim::task_graph::edge_descriptor>));

const brim::schemes::one_f_one_b scheme{};

}  // namespace

TEST_CASE("critical path: 1F1B on two devices, by hand") {
  // vertices, one tick a column:
  //   device 0:  0 1 . . 2 2 . 3 3
  //   device 1:  . 4 5 5 6 7 7
  const brim::pipeline_shape shape{.devices = 2, .microbatches = 2};
  const brim::order program = brim::make_order(scheme, shape);
  const brim::critical_path path =
      critical_path_of(brim::task_graph(program), brim::uniform_cost{.forward = 1, .backward = 2});
  CHECK(path.length == 9);
  CHECK(path.vertices == std::vector<std::size_t>{0, 4, 5, 6, 7, 3});
  CHECK(path.earliest == std::vector<ticks>{0, 1, 4, 7, 1, 2, 4, 5});
  CHECK(path.slack == std::vector<ticks>{0, 2, 1, 0, 0, 0, 0, 0});
}

TEST_CASE("critical path: transfers count between devices only") {
  const brim::pipeline_shape shape{.devices = 2, .microbatches = 1};
  const brim::order program = brim::make_order(scheme, shape);
  const brim::uniform_cost slow_links{.forward = 1, .backward = 2, .transfer_time = 10};
  CHECK(critical_path_of(brim::task_graph(program), slow_links).length == 1 + 10 + 1 + 2 + 10 + 2);
}

TEST_CASE("critical path: what models cost_model and nothing more is enough") {
  const brim::order program = brim::make_order(scheme, {.devices = 2, .microbatches = 1});
  CHECK(critical_path_of(brim::task_graph(program), test_support::cost_archetype(0)).length == 1 + 3 + 1 + 2 + 3 + 2);
}

TEST_CASE("critical path: a timeline, its view and a constant give the path of their costs") {
  const brim::uniform_cost costs{.forward = 3, .backward = 5, .transfer_time = 2};
  static constexpr auto fixed =
      brim::static_plan<brim::schemes::one_f_one_b{}, brim::pipeline_shape{.devices = 3, .microbatches = 4}>(
          brim::uniform_cost{.forward = 3, .backward = 5, .transfer_time = 2});
  const brim::timeline timeline = simulate(scheme, {.devices = 3, .microbatches = 4}, costs);
  const brim::critical_path expected = critical_path_of(brim::task_graph(timeline.program), costs);
  CHECK(expected.length == makespan(timeline));
  CHECK(critical_path_of(timeline) == expected);
  CHECK(critical_path_of(timeline.view()) == expected);
  CHECK(critical_path_of(fixed) == expected);
}

TEST_CASE("critical path: any graph of Boost's will do, also one without vertices") {
  using graph_type = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                           boost::property<boost::edge_weight_t, ticks>>;
  graph_type diamond(4);  // 0 → {1, 2} → 3, the way through 2 is longer by its transfer
  add_edge(0, 1, 0, diamond);
  add_edge(0, 2, 1, diamond);
  add_edge(1, 3, 0, diamond);
  add_edge(2, 3, 0, diamond);
  const std::vector<ticks> durations{2, 5, 6, 1};
  const auto path = brim::longest_path(
      diamond, boost::make_iterator_property_map(durations.begin(), get(boost::vertex_index, diamond)),
      get(boost::edge_weight, diamond));
  CHECK(path.length == 10);
  CHECK(path.vertices == std::vector<std::size_t>{0, 2, 3});
  CHECK(path.slack == std::vector<ticks>{0, 2, 0, 0});

  const graph_type empty;
  const auto nothing =
      brim::longest_path(empty, boost::make_iterator_property_map(durations.begin(), get(boost::vertex_index, empty)),
                         get(boost::edge_weight, empty));
  CHECK(nothing.length == 0);
  CHECK(nothing.vertices.empty());
}
