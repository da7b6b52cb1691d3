// SPDX-License-Identifier: Apache-2.0
// The search on every published input: against the published schedules, against its own bound, and how long it takes.
// bench_search_grid [--operations N] [--seed N] [--open] [--quick] [FILE...]: `--open` prints the cases that are longer or not proven.
#include "support/search_cases.hpp"
#include "support/stopwatch.hpp"

#include <brim/schedule/memory.hpp>
#include <brim/search/search.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct summary {
  int cases = 0, shorter = 0, equal = 0, longer = 0, optimal = 0, open = 0, wrong = 0;
  double saved = 0, gap = 0, worst_gap = 0, worst_seconds = 0;
  std::vector<double> seconds{};
};

/// Whether the rest of brim agrees: the same times, and no device over its limit.
bool agrees(const bench::search_case& c, const brim::search_result& result) {
  const brim::timeline again = brim::simulate(result.best.program, c.costs);
  const std::vector<brim::bytes> peaks = brim::peak_memory(again, c.memory);
  for (std::size_t d = 0; d < peaks.size(); ++d)
    if (c.limits[d] > 0 && peaks[d] > c.limits[d]) return false;
  return again == result.best && brim::longest_span(again) == result.length && result.length >= result.bound.length;
}

void add(summary& to, const bench::search_case& c, const brim::search_result& result, double seconds) {
  ++to.cases;
  if (!agrees(c, result)) ++to.wrong;
  if (c.reference > 0) {
    ++(result.length < c.reference ? to.shorter : result.length == c.reference ? to.equal : to.longer);
    to.saved += 1 - static_cast<double>(result.length) / static_cast<double>(c.reference);
  }
  if (result.length == result.bound.length) ++to.optimal;
  to.gap += result.gap;
  to.worst_gap = std::max(to.worst_gap, result.gap);
  to.seconds.push_back(seconds);
  to.worst_seconds = std::max(to.worst_seconds, seconds);
}

void print(const std::string& name, summary& s) {
  std::sort(s.seconds.begin(), s.seconds.end());
  std::printf("%-26s %5d %7d %6d %6d %7d %8.2f %7.2f %8.3f %8.2f %9.3f %9.3f %6d\n", name.c_str(), s.cases, s.shorter,
              s.equal, s.longer, s.optimal, 100.0 * s.optimal / s.cases, 100 * s.saved / s.cases, 100 * s.gap / s.cases,
              100 * s.worst_gap, 1e3 * s.seconds[s.seconds.size() / 2], s.worst_seconds, s.wrong);
}

}  // namespace

int main(int argc, char** argv) {
  brim::search_options options{.goal = brim::length_kind::longest_span};
  bool show = false;
  std::size_t stride = 1;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--operations" && i + 1 < argc)
      options.operations = std::atoll(argv[++i]);
    else if (option == "--seed" && i + 1 < argc)
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (option == "--open")
      show = true;
    else if (option == "--quick" || option.substr(0, 21) == "--benchmark_min_time=")
      stride = 50;
    else if (option.substr(0, 2) != "--")
      files.emplace_back(option);
  }
  const std::string data = std::string(EXAMPLES) + "/../tests/golden/data/";
  if (files.empty()) files = {data + "search_grid.csv", data + "search_uneven.csv"};
  std::map<std::string, summary> sets;
  for (const std::string& file : files) {
    const std::vector<bench::search_case> cases = bench::read_search_cases(file);
    for (std::size_t k = 0; k < cases.size(); k += stride) {
      const bench::search_case& c = cases[k];
      options.memory_limits = c.limits;
      brim::search_result result;
      const double seconds = bench::seconds([&] { result = brim::search(c.shape, c.costs, c.memory, options); });
      const std::string name = c.set + (c.scarce() ? ", limit < devices" : "") + (c.proven ? ", proven" : "");
      add(sets[name], c, result, seconds);
      if (c.set != "vocabulary") add(sets[" all"], c, result, seconds);
      if (show && (result.length > result.bound.length || (c.reference > 0 && result.length > c.reference)))
        std::printf("%s: %lld, bound %lld, %s, %.3f s\n", c.line.c_str(), static_cast<long long>(result.length),
                    static_cast<long long>(result.bound.length), brim::binding_text(result).c_str(), seconds);
    }
  }
  std::printf("%-26s %5s %7s %6s %6s %7s %8s %7s %8s %8s %9s %9s %6s\n", "set", "cases", "shorter", "equal", "longer",
              "optimal", "%", "saved %", "gap %", "worst %", "median ms", "worst s", "wrong");
  for (auto& [name, s] : sets) print(name, s);
}
