// SPDX-License-Identifier: Apache-2.0
#include "outputs.hpp"

#include "words.hpp"

#include <brim/core/text.hpp>
#include <brim/graph/graphviz.hpp>
#include <brim/io/ascii_grid.hpp>
#include <brim/io/chrome_trace.hpp>
#include <brim/io/metrics_csv.hpp>
#include <brim/io/read_plan_json.hpp>
#include <brim/io/read_profile.hpp>
#include <brim/io/svg.hpp>
#include <brim/io/write_plan_json.hpp>

#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace tool {
namespace {

/// The file that a name leads to, so that two names of one file are seen to be one.
std::filesystem::path place_of(const std::string& name) {
  std::error_code failed;
  const std::filesystem::path place = std::filesystem::weakly_canonical(std::filesystem::absolute(name), failed);
  return failed ? std::filesystem::path(name) : place;
}

struct output {
  std::string_view option;
  const std::string& path;
};

/// What the request wants written.
std::vector<output> outputs_of(const plan_request& request) {
  std::vector<output> wanted;
  for (const output& one : {output{"--json", request.json},
                            {"--trace", request.trace},
                            {"--svg", request.svg},
                            {"--dot", request.dot},
                            {"--csv", request.csv}})
    if (!one.path.empty()) wanted.push_back(one);
  return wanted;
}

/// Whether a file could be created or replaced there, as far as one can see without doing it.
void check_writable(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  int reason = 0;
  if (std::filesystem::is_directory(path, failed))
    reason = EISDIR;
  else if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
    reason = errno;
  if (reason != 0)
    brim::raise(brim::error_code::io_failure, brim::detail::text(path, ": cannot write: ", std::strerror(reason)));
}

bool wants_colour(colour_rule rule) {
  return rule == colour_rule::when_terminal && isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
}

}  // namespace

// Names are made printable here, so that no message and no table has to think of it.

brim::profile read_profile(const std::string& path) {
  brim::profile costs = brim::io::read_profile(path);
  costs.name = printable(costs.name);
  for (brim::stage_profile& stage : costs.stages)
    for (brim::layer_profile& layer : stage.layers) layer.name = printable(layer.name);
  return costs;
}

brim::plan read_plan(const std::string& path) {
  brim::plan plan = brim::io::read_plan_json(path);
  plan.scheme = printable(plan.scheme);
  return plan;
}

void check_outputs(const plan_request& request) {
  std::vector<std::pair<std::string_view, std::filesystem::path>> seen{{"--profile", place_of(request.job.profile)}};
  for (const auto& [option, path] : outputs_of(request)) {
    if (path.starts_with("/dev/")) continue;
    const std::filesystem::path place = place_of(path);
    for (const auto& [other, taken] : seen)
      if (taken == place) throw usage_error(brim::detail::text(other, " and ", option, " are the same file: ", path));
    seen.emplace_back(option, place);
    check_writable(path);
  }
}

std::string write_outputs(const plan_request& request, const outcome& made, const brim::profile& costs,
                          const brim::plan& plan) {
  namespace io = brim::io;
  std::string said;
  const auto write = [&](const std::string& path, std::string_view what, const auto& make) {
    if (path.empty()) return;
    io::write_file(path, make());
    said += brim::detail::text("wrote ", printable(path), "  ", what, '\n');
  };
  const auto either = [&](const auto& make) { return made.filled ? make(*made.filled) : make(made.pipeline); };
  write(request.json, "plan, to replay; check it with: brim verify", [&] { return io::plan_json(plan); });
  write(request.trace, "trace; open it in https://ui.perfetto.dev",
        [&] { return either([&](const auto& what) { return io::chrome_trace(what, costs); }); });
  write(request.svg, "picture", [&] { return either([](const auto& what) { return io::svg(what); }); });
  write(request.dot, "graph of one step, its longest path bold; draw it with: dot -Tsvg",
        [&] { return to_dot(brim::task_graph(made.pipeline), critical_path_of(made.pipeline)); });
  write(request.csv, "metrics of every device",
        [&] { return either([](const auto& what) { return io::metrics_csv(what); }); });
  return said;
}

std::string grid(const plan_request& request, const outcome& made) {
  const brim::io::grid_options options{
      .width = static_cast<std::int32_t>(request.width),
      .steps = 2,
      .colour = wants_colour(request.colour) ? brim::io::colour::ansi : brim::io::colour::no};
  return made.filled ? brim::io::ascii_grid(*made.filled, options) : brim::io::ascii_grid(made.pipeline, options);
}

}  // namespace tool
