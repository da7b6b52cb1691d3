// SPDX-License-Identifier: Apache-2.0
#include <brim/graph/graphviz.hpp>
#include <brim/graph/plan_graph.hpp>
#include <brim/graph/topological_order.hpp>
#include <brim/plan/plan.hpp>

#include <doctest/doctest.h>
#include <boost/concept/assert.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/range/iterator_range.hpp>

#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace archetypes {

enum class queue { only };
constexpr std::string_view name_of(queue) { return "only"; }

/// All that a plan graph reads, and nothing more.
struct program {
  struct event {
    std::int32_t value = -1;
    [[nodiscard]] std::size_t at() const { return static_cast<std::size_t>(value); }
  };
  struct instruction {
    brim::action what;
    brim::device_index peer{-1};
    std::int32_t tag = -1;
    std::int32_t step = 0;
    std::uint32_t first_wait = 0, wait_count = 0;
    event records;
  };
  struct stream {
    brim::device_index device;
    queue kind = queue::only;
    std::uint32_t begin = 0, end = 0;
  };
  std::string_view scheme = "by hand";
  brim::pipeline_shape shape;
  std::vector<instruction> instructions;
  std::vector<stream> streams;
  std::vector<event> waits;
  std::int32_t events = 0;
};

}  // namespace archetypes

namespace {

using graph_type = brim::plan_graph<brim::plan>;
BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<graph_type>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<graph_type>));
BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<graph_type>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<graph_type>));
static_assert(brim::program_like<brim::plan>);
static_assert(!brim::program_like<brim::timeline>);
static_assert(std::is_constructible_v<graph_type, const brim::plan&>);
static_assert(!std::is_constructible_v<graph_type, brim::plan>);  // would dangle

using enum brim::action_kind;
using brim::plan_dependency;

/// One microbatch over two devices, forward only: forward, send | receive, forward; each on a stream of its own.
brim::plan small_plan() {
  brim::plan plan;
  plan.scheme = "small";
  plan.shape.devices = 2;
  const auto add = [&](brim::action_kind kind, int device, brim::stream_kind stream) -> brim::instruction& {
    const auto at = static_cast<std::uint32_t>(plan.instructions.size());
    plan.streams.push_back({brim::device_index(device), stream, brim::device_index(-1), at, at + 1});
    plan.instructions.emplace_back();
    plan.instructions.back().what = {
        kind, brim::side::none, {}, brim::stage_index(device), brim::microbatch_index(0), brim::layer_index(-1)};
    return plan.instructions.back();
  };
  add(forward, 0, brim::stream_kind::compute).records = brim::event_index(0);
  brim::instruction& send = add(send_activation, 0, brim::stream_kind::communication);
  send.tag = 7;
  send.peer = brim::device_index(1);
  send.wait_count = 1;
  brim::instruction& use = add(forward, 1, brim::stream_kind::compute);
  use.first_wait = 1;
  use.wait_count = 1;
  brim::instruction& receive = add(recv_activation, 1, brim::stream_kind::communication);
  receive.tag = 7;
  receive.peer = brim::device_index(0);
  receive.records = brim::event_index(1);
  plan.waits = {brim::event_index(0), brim::event_index(1)};
  plan.events = 2;
  return plan;
}

/// `small_plan` with both instructions of device 0 in one stream, and no event there.
brim::plan one_stream_plan() {
  brim::plan plan = small_plan();
  plan.streams.erase(plan.streams.begin());
  plan.streams.front().begin = 0;
  plan.instructions[0].records = brim::event_index(-1);
  plan.instructions[1].wait_count = 0;
  return plan;
}

template <class Graph>
std::set<brim::plan_edge> edges_of(const Graph& graph) {
  const auto range = edges(graph);
  return {range.first, range.second};
}

std::string complaint(const brim::plan& plan) {
  try {
    const brim::plan_graph graph(plan);
  } catch (const brim::error& e) {
    CHECK(e.code() == brim::error_code::bad_plan);
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("plan graph: events, transfers and the order of streams, by hand") {
  const brim::plan apart = small_plan();
  CHECK(edges_of(brim::plan_graph(apart)) == std::set<brim::plan_edge>{{0, 1, plan_dependency::event},
                                                                       {1, 3, plan_dependency::transfer},
                                                                       {3, 2, plan_dependency::event}});
  CHECK(brim::topological_order(brim::plan_graph(apart)) == std::vector<std::size_t>{0, 1, 3, 2});
  const brim::plan together = one_stream_plan();
  CHECK(edges_of(brim::plan_graph(together)) == std::set<brim::plan_edge>{{0, 1, plan_dependency::stream},
                                                                          {1, 3, plan_dependency::transfer},
                                                                          {3, 2, plan_dependency::event}});
}

TEST_CASE("plan graph: edges in are the edges out, seen from the other side") {
  const brim::plan plan = small_plan();
  const brim::plan_graph graph(plan);
  std::set<brim::plan_edge> out, in;
  std::size_t degrees = 0;
  for (const std::size_t v : boost::make_iterator_range(vertices(graph))) {
    for (const brim::plan_edge& e : boost::make_iterator_range(out_edges(v, graph)))
      CHECK((source(e, graph) == v && out.insert(e).second));
    for (const brim::plan_edge& e : boost::make_iterator_range(in_edges(v, graph)))
      CHECK((target(e, graph) == v && in.insert(e).second));
    CHECK(degree(v, graph) == in_degree(v, graph) + out_degree(v, graph));
    degrees += degree(v, graph);
  }
  CHECK(out == edges_of(graph));
  CHECK(in == out);
  CHECK(degrees == 2 * num_edges(graph));
}

TEST_CASE("plan graph: a transfer joins what has the same step, tag, devices and direction") {
  const auto transfers = [](auto spoil) {
    brim::plan plan = small_plan();
    spoil(plan.instructions[3]);
    return edges_of(brim::plan_graph(plan)).count({1, 3, plan_dependency::transfer});
  };
  CHECK(transfers([](brim::instruction&) {}) == 1);
  CHECK(transfers([](brim::instruction& receive) { receive.tag = 8; }) == 0);
  CHECK(transfers([](brim::instruction& receive) { receive.step = 1; }) == 0);
  CHECK(transfers([](brim::instruction& receive) { receive.peer = brim::device_index(1); }) == 0);
  CHECK(transfers([](brim::instruction& receive) { receive.what.kind = recv_gradient; }) == 0);
}

TEST_CASE("plan graph: instructions that wait for one another are a cycle") {
  brim::plan plan = small_plan();
  plan.waits[0] = brim::event_index(1);  // the send waits for what it fills
  CHECK_THROWS_AS((void)brim::topological_order(brim::plan_graph(plan)), brim::error);
}

TEST_CASE("plan graph: what is no plan is refused, with the place") {
  const auto says = [](auto spoil, const char* words) {
    brim::plan plan = small_plan();
    spoil(plan);
    return complaint(plan).find(words) != std::string::npos;
  };
  using brim::plan;
  CHECK(complaint(small_plan()) == "accepted");
  CHECK(
      says([](plan& p) { p.instructions[1].records = brim::event_index(0); }, "instruction 1 records event 0, which"));
  CHECK(
      says([](plan& p) { p.instructions[1].records = brim::event_index(2); }, "instruction 1 records event 2, which"));
  CHECK(says([](plan& p) { p.instructions[0].records = brim::event_index(-1); },
             "waits for event 0, which nobody records"));
  CHECK(says([](plan& p) { p.waits[1] = brim::event_index(-1); }, "instruction 2 waits for event -1"));
  CHECK(says([](plan& p) { p.waits[1] = brim::event_index(2); }, "instruction 2 waits for event 2"));
  CHECK(says([](plan& p) { p.waits.pop_back(); }, "instruction 2 has waits behind the last one"));
  CHECK(
      says([](plan& p) { p.instructions[2].first_wait = 0xffffffffU; }, "instruction 2 has waits behind the last one"));
  CHECK(says([](plan& p) { p.streams[3].end = 5; }, "a stream ends behind the last instruction"));
  CHECK(says([](plan& p) { p.streams[3].begin = 5; }, "a stream ends behind the last instruction"));
  CHECK(says([](plan& p) { p.events = 1'000'000'000; }, "more events than instructions"));
  CHECK(says([](plan& p) { p.instructions[2] = p.instructions[3], p.instructions[2].records = brim::event_index(-1); },
             "instructions 2 and 3 are the same end of the transfer with tag 7"));
}

TEST_CASE("plan graph: a type that is like a plan is enough") {
  const archetypes::program nothing;
  CHECK(num_vertices(brim::plan_graph(nothing)) == 0);
  archetypes::program program;
  program.instructions.resize(2);
  program.streams = {{brim::device_index(0), archetypes::queue::only, 0, 2}};
  const brim::plan_graph graph(program);
  CHECK(edges_of(graph) == std::set<brim::plan_edge>{{0, 1, plan_dependency::stream}});
  CHECK(to_dot(graph).find("label=\"only\"") != std::string::npos);
}

TEST_CASE("plan graph: as DOT, a cluster a device and one a stream in it, every byte") {
  brim::plan plan = small_plan();
  plan.instructions[2].what = {
      statistic,           brim::side::a, brim::route_index(1), brim::stage_index(1), brim::microbatch_index(0),
      brim::layer_index(2)};
  plan.instructions[2].step = 3;
  CHECK(to_dot(brim::plan_graph(plan)) == R"(digraph {
  graph [label="small: devices=2 microbatches=1 chunks=1 pairs=1", labelloc=t, rankdir=LR, fontname="sans-serif"]
  node [shape=box, style=filled, fontname="sans-serif"]
  subgraph cluster_0 {
    label="device 0"
    subgraph cluster_2 {
      label="compute"
      0 [label="forward\nstage 0\nmicrobatch 0", fillcolor="#a6cee3"]
    }
    subgraph cluster_3 {
      label="communication"
      1 [label="send_activation\nstage 0\nmicrobatch 0", fillcolor="#f0f0f0"]
    }
  }
  subgraph cluster_1 {
    label="device 1"
    subgraph cluster_4 {
      label="compute"
      2 [label="statistic\nstage 1\nmicrobatch 0\nroute 1\nlayer 2\nside a\nstep 3", fillcolor="#fdd49e"]
    }
    subgraph cluster_5 {
      label="communication"
      3 [label="recv_activation\nstage 1\nmicrobatch 0", fillcolor="#f0f0f0"]
    }
  }
  0 -> 1 [style=solid]
  1 -> 3 [style=dotted]
  3 -> 2 [style=solid]
}
)");
}
