// SPDX-License-Identifier: Apache-2.0
#include <brim/graph/graphviz.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <paths.hpp>
#include <sstream>
#include <string>

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

bool contains(const std::string& text, const std::string& part) { return count(text, part) > 0; }

/// What `dot -Tsvg` draws, with its complaints; empty where Graphviz is not installed.
std::string drawn(const std::string& dot, const std::string& name) {
  if (std::system("command -v dot >/dev/null 2>&1") != 0) return "";
  const std::filesystem::path in = test_support::scratch_dir() / (name + ".dot");
  const std::filesystem::path out = test_support::scratch_dir() / (name + ".svg");
  std::ofstream(in, std::ios::binary) << dot;
  std::filesystem::remove(out);
  const std::string command = "dot -Tsvg '" + in.string() + "' -o '" + out.string() + "' 2>&1";
  CHECK(std::system(command.c_str()) == 0);
  return read(out);
}

}  // namespace

TEST_CASE("graphviz: one device, one microbatch, every byte") {
  const brim::order program = brim::make_order(brim::schemes::gpipe{}, {});
  const brim::task_graph graph(program);
  CHECK(to_dot(graph, critical_path_of(graph, brim::uniform_cost{})) == R"(digraph {
  graph [label="gpipe: devices=1 microbatches=1 chunks=1 pairs=1", labelloc=t, rankdir=LR, fontname="sans-serif"]
  node [shape=box, style=filled, fontname="sans-serif"]
  subgraph cluster_0 {
    label="device 0"
    0 [label="forward\nstage 0\nmicrobatch 0", fillcolor="#a6cee3", penwidth=3]
    1 [label="backward\nstage 0\nmicrobatch 0", fillcolor="#b2df8a", penwidth=3]
  }
  0 -> 1 [style=dashed, penwidth=3]
  0 -> 1 [style=solid, penwidth=3]
}
)");
}

TEST_CASE("graphviz: a cluster a device, a node an action, the critical path in bold") {
  const brim::timeline timeline =
      simulate(brim::schemes::chimera{}, {.devices = 4, .microbatches = 4}, brim::uniform_cost{});
  const brim::task_graph graph(timeline);
  const brim::critical_path path = critical_path_of(timeline);
  const std::string dot = to_dot(graph, path);
  CHECK(count(dot, "subgraph cluster_") == 4);
  CHECK(count(dot, "fillcolor=") == num_vertices(graph));
  CHECK(count(dot, " -> ") == num_edges(graph));
  CHECK(count(dot, "\\nroute 1") == num_vertices(graph) / 2);
  CHECK(count(dot, "\", penwidth=3]") == path.vertices.size());
  CHECK(count(to_dot(graph), "penwidth") == 0);
  const std::string svg = drawn(dot, "chimera");
  if (!svg.empty()) {
    CHECK(count(svg, "class=\"node\"") == num_vertices(graph));
    CHECK(count(svg, "class=\"edge\"") == num_edges(graph));
    CHECK(count(svg, "class=\"cluster\"") == 4);
  }
}

TEST_CASE("graphviz: names show as they are, whatever is in them") {
  brim::order program = brim::make_order(brim::schemes::gpipe{}, {.devices = 2});
  program.scheme = "\"q\" \\N \\ &lt; <b> { ] ;\n// \x01 \xc3\xa9 \\";
  const std::string dot = to_dot(brim::task_graph(program));
  CHECK(contains(dot, R"(label="\"q\" \\N \\ &amp;lt; <b> { ] ;\n//   é \\: devices=2)"));
  const std::string svg = drawn(dot, "names");
  if (!svg.empty()) {
    CHECK(contains(svg, "&quot;q&quot; \\N \\ &amp;lt; &lt;b&gt; { ] ;</text>"));
    CHECK(contains(svg, "é \\: devices=2"));
  }
}
