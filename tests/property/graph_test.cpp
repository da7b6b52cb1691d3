// SPDX-License-Identifier: Apache-2.0
// Boost.Graph as an independent judge of every scheme's orders and of `simulate`.
#include "any_shape.hpp"
#include "data.hpp"

#include <brim/graph/critical_path.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <boost/graph/dag_shortest_paths.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <boost/range/iterator_range.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

using brim::pipeline_shape;
using brim::task_graph;
using brim::ticks;

/// Costs that differ for every action, device and boundary, but are the same for the same seed.
struct random_costs {
  std::uint64_t seed = 0;

  [[nodiscard]] ticks duration(const brim::action& a, brim::device_index d) const {
    return drawn(static_cast<std::uint64_t>(a.kind) << 48U | a.stage.at() << 32U | a.microbatch.at() << 8U | d.at());
  }
  [[nodiscard]] ticks transfer(brim::stage_index lower) const { return drawn(~lower.at()); }

 private:
  [[nodiscard]] ticks drawn(std::uint64_t what) const {  // 0 … 15, zeros too
    what = (what ^ seed) * 0x9e3779b97f4a7c15U;
    return static_cast<ticks>((what ^ what >> 29U) * 0xbf58476d1ce4e5b9U >> 60U);
  }
};

/// Gives `check` an order of every scheme, for a random shape that it accepts.
void with_random_orders(const auto& check) {
  for (const std::string& name : test_support::scheme_names()) {
    const pipeline_shape shape =
        test_support::any_shape(name, {.devices = 8, .microbatches = 19, .chunks = 3, .pairs = 2});
    test_support::with_scheme(name, [&](const auto& scheme) { check(make_order(scheme, shape)); });
  }
}

/// The same order with every backward in halves, the weight half some places later.
brim::order in_halves(const brim::order& whole, std::size_t delay) {
  brim::order split = whole;
  split.actions.clear();
  split.offsets = {0};
  for (const brim::device_index d : devices(whole.shape)) {
    std::vector<brim::action> due;
    for (brim::action a : whole.row(d)) {
      if (a.kind == brim::action_kind::backward) {
        a.kind = brim::action_kind::backward_input;
        split.actions.push_back(a);
        a.kind = brim::action_kind::backward_weight;
        due.push_back(a);
      } else {
        split.actions.push_back(a);
      }
      if (due.size() > delay) {
        split.actions.push_back(due.front());
        due.erase(due.begin());
      }
    }
    split.actions.insert(split.actions.end(), due.begin(), due.end());
    split.offsets.push_back(split.actions.size());
  }
  return split;
}

/// Whole or split, as it falls.
void with_random_programs(const auto& check) {
  with_random_orders([&](const brim::order& whole) {
    const int delay = *rc::gen::inRange(-1, 4);
    check(delay < 0 ? whole : in_halves(whole, static_cast<std::size_t>(delay)));
  });
}

}  // namespace

TEST_CASE("property: every order of every scheme has a topological order, which respects every edge") {
  CHECK(rc::check([] {
    with_random_programs([](const brim::order& program) {
      const task_graph graph(program);
      const std::vector<std::size_t> sorted = brim::topological_order(graph);
      RC_ASSERT(sorted.size() == program.actions.size());
      std::vector<std::size_t> place(sorted.size());
      for (std::size_t i = 0; i < sorted.size(); ++i) place[sorted[i]] = i;
      for (const auto& e : boost::make_iterator_range(edges(graph))) RC_ASSERT(place[e.source] < place[e.target]);
    });
  }));
}

TEST_CASE("property: a task graph has all dependencies of its actions") {
  CHECK(rc::check([] {
    with_random_programs([](const brim::order& program) {
      // device order, activations, gradients, and what is kept from forward to backward, and from half to half
      const std::size_t devices = static_cast<std::size_t>(program.shape.devices);
      const std::size_t stages = static_cast<std::size_t>(program.where.stages);
      const std::size_t microbatches = static_cast<std::size_t>(program.shape.microbatches);
      const std::size_t halves = program.actions.size() - 2 * stages * microbatches;
      std::size_t idle = 0;  // devices without actions, as Chimera has with few microbatches
      for (std::size_t d = 0; d < devices; ++d)
        if (program.offsets[d] == program.offsets[d + 1]) ++idle;
      const task_graph graph(program);
      RC_ASSERT(num_edges(graph) == program.actions.size() - devices + idle + 2 * (stages - 1) * microbatches +
                                        stages * microbatches + halves);
    });
  }));
}

TEST_CASE("property: a timeline respects every edge, and each action starts when its last input or its device allows") {
  CHECK(rc::check([] {
    with_random_programs([](const brim::order& program) {
      const brim::timeline t = simulate(program, random_costs{*rc::gen::arbitrary<std::uint64_t>()});
      const task_graph graph(t);
      const brim::transfer_map<brim::timeline> transfers(graph, t);
      for (const std::size_t v : boost::make_iterator_range(vertices(graph))) {
        ticks ready = 0;
        for (const auto& e : boost::make_iterator_range(in_edges(v, graph)))
          ready = std::max(ready, t.times[e.source].end + get(transfers, e));
        RC_ASSERT(t.times[v].start == ready);
      }
    });
  }));
}

TEST_CASE("property: the critical path is as long as the timeline, starts are its longest paths, slack is freedom") {
  CHECK(rc::check([] {
    with_random_programs([](const brim::order& program) {
      const random_costs costs{*rc::gen::arbitrary<std::uint64_t>()};
      const brim::timeline t = simulate(program, costs);
      const task_graph graph(t);
      const brim::critical_path path = critical_path_of(graph, costs);
      RC_ASSERT(path.length == makespan(t));
      RC_ASSERT(path == critical_path_of(t));
      for (std::size_t v = 0; v < t.times.size(); ++v) {
        RC_ASSERT(path.earliest[v] == t.times[v].start);
        RC_ASSERT(path.slack[v] >= 0);
      }
      // It is a path, without slack and without a gap.
      const brim::duration_map<random_costs> durations(graph, costs);
      const brim::transfer_map<random_costs> transfers(graph, costs);
      ticks sum = get(durations, path.vertices.front());
      for (std::size_t i = 1; i < path.vertices.size(); ++i) {
        ticks longest = -1;
        for (const auto& e : boost::make_iterator_range(out_edges(path.vertices[i - 1], graph)))
          if (e.target == path.vertices[i]) longest = std::max(longest, get(transfers, e));
        RC_ASSERT(longest >= 0);
        sum += longest + get(durations, path.vertices[i]);
      }
      RC_ASSERT(sum == path.length);
      for (const std::size_t v : path.vertices) RC_ASSERT(path.slack[v] == 0);
    });
  }));
}

TEST_CASE("property: an action may be late by its slack and not by a tick more") {
  struct delayed_costs : random_costs {
    brim::action late;
    ticks by = 0;
    [[nodiscard]] ticks duration(const brim::action& a, brim::device_index d) const {
      return random_costs::duration(a, d) + (a == late ? by : 0);
    }
  };
  CHECK(rc::check([] {
    with_random_programs([](const brim::order& program) {
      const random_costs costs{*rc::gen::arbitrary<std::uint64_t>()};
      const brim::critical_path path = critical_path_of(task_graph(program), costs);
      const auto v = *rc::gen::inRange<std::size_t>(0, program.actions.size());
      RC_ASSERT(makespan(simulate(program, delayed_costs{costs, program.actions[v], path.slack[v]})) == path.length);
      RC_ASSERT(makespan(simulate(program, delayed_costs{costs, program.actions[v], path.slack[v] + 1})) ==
                path.length + 1);
    });
  }));
}

TEST_CASE("property: Boost's own shortest paths, with negative weights, find the same longest path") {
  CHECK(rc::check([] {
    with_random_programs([](const brim::order& program) {
      const random_costs costs{*rc::gen::arbitrary<std::uint64_t>()};
      const task_graph graph(program);
      const brim::duration_map<random_costs> durations(graph, costs);
      const brim::transfer_map<random_costs> transfers(graph, costs);
      const auto weights = boost::make_function_property_map<task_graph::edge_descriptor>(
          [&](const task_graph::edge_descriptor& e) { return -get(durations, e.source) - get(transfers, e); });
      ticks longest = 0;
      for (const brim::device_index d : devices(program.shape)) {  // every path begins where a device does
        if (program.row(d).empty()) continue;
        std::vector<ticks> distance(num_vertices(graph));
        boost::dag_shortest_paths(graph, program.offsets[d.at()],
                                  boost::weight_map(weights).distance_map(boost::make_iterator_property_map(
                                      distance.begin(), get(boost::vertex_index, graph))));
        for (std::size_t v = 0; v < distance.size(); ++v)
          if (distance[v] <= 0) longest = std::max(longest, get(durations, v) - distance[v]);
      }
      RC_ASSERT(longest == critical_path_of(graph, costs).length);
    });
  }));
}
