// SPDX-License-Identifier: Apache-2.0
// Boost.Graph as an independent judge of `lower`: what must wait is written down here a second time, from the meaning of
// the instructions, and compared with the events that the plan has.
#include <brim/fill/fill.hpp>
#include <brim/fill/kfac_work.hpp>
#include <brim/graph/plan_graph.hpp>
#include <brim/graph/topological_order.hpp>
#include <brim/plan/lower.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>
#include "data.hpp"

#include <doctest/doctest.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graph_utility.hpp>
#include <boost/graph/transitive_reduction.hpp>
#include <boost/range/iterator_range.hpp>

#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using brim::action_kind;
using brim::instruction;
using brim::plan;
using brim::plan_dependency;
using digraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
using edge_set = std::set<std::pair<std::size_t, std::size_t>>;

edge_set edges_of(const digraph& graph) {
  edge_set found;
  for (const auto& e : boost::make_iterator_range(edges(graph))) found.emplace(source(e, graph), target(e, graph));
  return found;
}

digraph graph_of(std::size_t vertices, const edge_set& edges) { return {edges.begin(), edges.end(), vertices}; }

/// Whether a path leads from one vertex to another.
bool leads_to(const digraph& graph, std::size_t from, std::size_t to) {
  std::vector<boost::default_color_type> colors(num_vertices(graph));
  return boost::is_reachable(from, to, graph,
                             boost::make_iterator_property_map(colors.begin(), get(boost::vertex_index, graph)));
}

/// The smallest graph with the same paths; two graphs have the same paths if and only if theirs are equal.
edge_set reduction(std::size_t vertices, const edge_set& edges) {
  const digraph graph = graph_of(vertices, edges);
  digraph reduced;
  std::vector<std::size_t> renamed(vertices);
  const auto index = get(boost::vertex_index, graph);
  boost::transitive_reduction(graph, reduced, boost::make_iterator_property_map(renamed.begin(), index), index);
  std::vector<std::size_t> original(vertices);
  for (std::size_t v = 0; v < vertices; ++v) original[renamed[v]] = v;
  edge_set found;
  for (const auto& [from, to] : edges_of(reduced)) found.emplace(original[from], original[to]);
  return found;
}

/// One device of a plan; its instructions numbered from 0.
struct device_graph {
  std::size_t vertices = 0;
  edge_set order;     ///< of the streams
  edge_set events;    ///< as the plan has them
  edge_set required;  ///< as the meaning of the instructions wants them, whether streams imply them or not
};

/// What one instruction of a pipeline uses and another one of the same device makes: kind, step, stage, microbatch.
using product = std::tuple<action_kind, std::int32_t, brim::stage_index, brim::microbatch_index>;

product made_by(const instruction& i) {
  const action_kind kind = i.what.kind == action_kind::backward_input ? action_kind::backward : i.what.kind;
  return {kind, i.step, i.what.stage, i.what.microbatch};
}

/// What an instruction has to wait for if its device makes it.
product used_by(const instruction& i) {
  const auto needs = [&](action_kind kind) { return product{kind, i.step, i.what.stage, i.what.microbatch}; };
  switch (i.what.kind) {
    case action_kind::forward: return needs(action_kind::recv_activation);
    case action_kind::backward:
    case action_kind::backward_input: return needs(action_kind::recv_gradient);
    case action_kind::backward_weight: return needs(action_kind::backward);
    case action_kind::send_activation: return needs(action_kind::forward);
    case action_kind::send_gradient: return needs(action_kind::backward);
    default: return needs(action_kind::user);  // made by nobody
  }
}

device_graph graph_of_device(const plan& p, brim::device_index d) {
  const brim::plan_graph graph(p);
  device_graph found;
  std::vector<std::size_t> local(p.instructions.size(), p.instructions.size());
  std::map<product, std::size_t> makers;
  for (const brim::stream& s : p.streams_of(d))
    for (std::size_t v = s.begin; v < s.end; ++v) {
      local[v] = found.vertices++;
      makers.emplace(made_by(p.instructions[v]), local[v]);
    }
  for (const brim::stream& s : p.streams_of(d))
    for (std::size_t v = s.begin; v < s.end; ++v) {
      if (const auto maker = makers.find(used_by(p.instructions[v])); maker != makers.end())
        found.required.emplace(maker->second, local[v]);
      for (const brim::plan_edge& e : boost::make_iterator_range(in_edges(v, graph))) {
        if (e.kind == plan_dependency::transfer) continue;
        REQUIRE(local[e.source] < found.vertices);  // a device waits for its own events only
        (e.kind == plan_dependency::stream ? found.order : found.events).emplace(local[e.source], local[v]);
      }
    }
  return found;
}

edge_set united(edge_set a, const edge_set& b) {
  a.insert(b.begin(), b.end());
  return a;
}

edge_set without(edge_set a, const edge_set& b) {
  for (const auto& e : b) a.erase(e);
  return a;
}

/// Calls `check(plan)` for every scheme, transport and a grid of shapes, with costs that make queues cross.
void for_small_plans(const auto& check) {
  const auto lower_all = [&](const auto& scheme, const brim::pipeline_shape& shape) {
    if (!refusal_of(scheme, shape).empty()) return;
    for (const brim::ticks transfer : {0, 5}) {
      const brim::timeline t =
          simulate(scheme, shape, brim::uniform_cost{.forward = 2, .backward = 3, .transfer_time = transfer});
      for (std::size_t k = 0; k < brim::transport_count; ++k) {
        const plan p = lower(t, {.transport = static_cast<brim::transport>(k)});
        CAPTURE(p.scheme);
        CAPTURE(to_string(p.shape));
        CAPTURE(name_of(p.transport));
        CAPTURE(transfer);
        check(p);
      }
    }
  };
  for (const int devices : {1, 2, 3, 4})
    for (const int microbatches : {1, 2, 5})
      for (const int chunks : {1, 2}) {
        const brim::pipeline_shape shape{.devices = devices, .microbatches = microbatches, .chunks = chunks};
        for (const std::string& name : test_support::scheme_names())
          test_support::with_scheme(name, [&](const auto& scheme) { lower_all(scheme, shape); });
      }
  lower_all(brim::schemes::chimera{}, {.devices = 4, .microbatches = 9, .pairs = 2});
}

}  // namespace

TEST_CASE("property: Boost's reduction is the judge that we think it is") {
  CHECK(reduction(4, {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {0, 3}}) == edge_set{{0, 1}, {1, 2}, {2, 3}});
  CHECK(reduction(3, {{2, 1}, {1, 0}, {2, 0}}) == edge_set{{2, 1}, {1, 0}});
  CHECK(leads_to(graph_of(3, {{0, 1}, {1, 2}}), 0, 2));
  CHECK_FALSE(leads_to(graph_of(3, {{0, 1}, {1, 2}}), 2, 0));
}

TEST_CASE("property: every plan has a topological order") {
  for_small_plans(
      [](const plan& p) { CHECK(brim::topological_order(brim::plan_graph(p)).size() == p.instructions.size()); });
}

TEST_CASE("property: a plan keeps every dependency of its instructions, and invents none") {
  for_small_plans([](const plan& p) {
    for (const brim::device_index d : devices(p.shape)) {
      const device_graph g = graph_of_device(p, d);
      CHECK(reduction(g.vertices, united(g.order, g.events)) == reduction(g.vertices, united(g.order, g.required)));
    }
  });
}

TEST_CASE(
    "property: a plan has the fewest waits: the transitive reduction of what is required, less the streams' order") {
  std::size_t waits = 0;
  std::size_t spared = 0;
  for_small_plans([&](const plan& p) {
    for (const brim::device_index d : devices(p.shape)) {
      const device_graph g = graph_of_device(p, d);
      CHECK(g.events == without(reduction(g.vertices, united(g.order, g.required)), g.order));
      if (p.transport == brim::transport::blocking) continue;  // one stream, no events
      waits += g.events.size();
      spared += without(g.required, g.order).size() - g.events.size();
    }
  });
  CHECK(waits > 0);  // otherwise the comparison says nothing
  CHECK(spared > 0);
}

TEST_CASE("property: without any one of its events a plan loses a dependency") {
  for_small_plans([](const plan& p) {
    for (const brim::device_index d : devices(p.shape)) {
      const device_graph g = graph_of_device(p, d);
      for (const auto& e : g.events)
        CHECK_FALSE(leads_to(graph_of(g.vertices, without(united(g.order, g.events), {e})), e.first, e.second));
    }
  });
}

TEST_CASE("property: also where a send waits for its receive no plan can deadlock") {
  for_small_plans([](const plan& p) {
    if (p.transport == brim::transport::buffered) return;
    const brim::plan_graph graph(p);
    std::vector<std::size_t> together(p.instructions.size());  // both ends of a transfer are one vertex
    for (std::size_t v = 0; v < together.size(); ++v) together[v] = v;
    std::size_t transfers = 0;
    for (const brim::plan_edge& e : boost::make_iterator_range(edges(graph)))
      if (e.kind == plan_dependency::transfer) together[e.target] = e.source, ++transfers;
    edge_set contracted;
    for (const brim::plan_edge& e : boost::make_iterator_range(edges(graph)))
      if (e.kind != plan_dependency::transfer) contracted.emplace(together[e.source], together[e.target]);
    CHECK(brim::topological_order(graph_of(together.size(), contracted)).size() == together.size());
    std::size_t boundaries = 0;
    for (const brim::microbatch_index m : microbatches(p.shape))
      for (std::int32_t s = 0; s + 1 < p.where.stages; ++s) {
        const brim::route_index r = p.where.route_of(m);
        if (p.where.device_of(r, brim::stage_index(s)) != p.where.device_of(r, brim::stage_index(s + 1))) ++boundaries;
      }
    CHECK(transfers == 2 * boundaries);
  });
}

TEST_CASE("property: with K-FAC in the bubbles, too, every plan has an order, and no event is implied by the others") {
  brim::layer_profile layer{.name = "layer"};
  layer.statistic_a = layer.statistic_b = 10;
  layer.refresh_a = layer.refresh_b = 40;
  layer.precondition = 5;
  brim::stage_profile stage;
  stage.cost = {.forward = 100, .backward = 200};
  stage.layers = {layer, layer};
  brim::profile profile;
  profile.stages = {stage};
  profile.links.p2p = {7};
  std::size_t collectives = 0;
  const auto check = [&](const brim::filled& filled) {
    for (std::size_t k = 0; k < brim::transport_count; ++k) {
      const plan p = lower(filled, {.transport = static_cast<brim::transport>(k)});
      CAPTURE(p.scheme);
      CAPTURE(name_of(p.transport));
      CHECK(brim::topological_order(brim::plan_graph(p)).size() == p.instructions.size());
      for (const instruction& i : p.instructions) collectives += brim::is_collective(i.what.kind) ? 1U : 0U;
      for (const brim::device_index d : devices(p.shape)) {
        const device_graph g = graph_of_device(p, d);
        CHECK(g.events == without(reduction(g.vertices, united(g.order, g.events)), g.order));
        const edge_set kept = reduction(g.vertices, united(g.order, g.events));
        CHECK(reduction(g.vertices, united(united(g.order, g.events), g.required)) == kept);
      }
    }
  };
  const brim::pipeline_shape shape{.devices = 4, .microbatches = 4};
  check(brim::fill(simulate(brim::schemes::chimera{}, shape, profile), brim::kfac_work{.profile = profile}));
  check(brim::fill(simulate(brim::schemes::one_f_one_b{}, shape, profile),
                   brim::kfac_work{.profile = profile, .replicas = 2, .sync_statistic = 3}));
  CHECK(collectives > 0);
}
