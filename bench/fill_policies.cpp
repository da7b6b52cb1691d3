// SPDX-License-Identifier: Apache-2.0
// Every fill policy over a corpus of timelines: how full, how fresh, how much memory, how fast.
#include "support/arguments.hpp"
#include "support/corpus.hpp"
#include "support/fill_quality.hpp"
#include "support/placing_speed.hpp"
#include "support/policy_summary.hpp"
#include "support/stopwatch.hpp"
#include "support/table.hpp"
#include "support/write_json.hpp"

#include <brim/brim.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <tuple>
#include <vector>

// --- your own policy joins here: include its header above, and add one line ------------------------------------------
using policies = std::tuple<
    // my::policy,
    brim::fills::oldest_longest, brim::fills::earliest_deadline, brim::fills::first_fit, brim::fills::best_fit,
    brim::fills::pipefisher_rule>;
// ---------------------------------------------------------------------------------------------------------------------

namespace {

bench::table result_table() {
  return {"By case",
          {{"case", "case"},
           {"set", "set"},
           {"policy", "policy"},
           {"utilization_before_percent", "before %", 2},
           {"utilization_percent", "after %", 2},
           {"bound_percent", "bound %", 2},
           {"points_below_bound", "below", 2},
           {"load", "load", 2},
           {"refresh_interval", "interval", 2},
           {"greatest_age", "age"},
           {"age_limit", "limit"},
           {"kept_mebibytes", "kept MiB", 0},
           {"table_steps", "steps"},
           {"nanoseconds_a_piece", "ns/piece", 1},
           {"search_milliseconds", "search ms", 2},
           {"refusal", "refused"}}};
}

template <class Policy>
void measure(const bench::fill_case& where, bench::effort effort, bench::table& results,
             bench::policy_summary& summary) {
  const int repetitions = effort == bench::effort::full ? 3 : 1;
  const brim::kfac_work work{.profile = where.costs};
  const brim::fill_options options;
  const Policy policy{};
  try {
    brim::filled filled;
    const auto search_once = [&] { filled = fill(where.pipeline, work, policy, options); };
    double search = bench::seconds(search_once);
    constexpr double long_enough = 0.05;
    if (search < long_enough) search = std::min(search, bench::least_seconds(repetitions, search_once));
    const double placing = bench::placing_nanoseconds(where, policy, options, repetitions);
    const brim::fill_report& r = filled.report;
    const bench::age_excess age = bench::worst_age(r);
    results.add({where.name, where.set, Policy::name, bench::percent(r.utilization_before),
                 bench::percent(r.utilization), bench::percent(r.bound), bench::points_below_bound(r), r.load,
                 r.refresh_interval, age.age, age.limit, bench::mebibytes(r.kept), filled.cycle_length, placing,
                 1e3 * search, ""});
    summary.add(where.name, r, placing, search);
  } catch (const brim::error& refusal) {
    results.add({where.name, where.set, Policy::name, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, refusal.what()});
    summary.refuse();
  }
}

template <class... Policies>
int run(const bench::arguments& wanted, std::tuple<Policies...> /*unused*/) {
  std::vector<bench::policy_summary> published{bench::policy_summary(Policies::name)...};
  std::vector<bench::policy_summary> random = published;
  bench::table results = result_table();
  const std::vector<bench::fill_case> corpus = bench::make_corpus(wanted);
  for (const bench::fill_case& where : corpus) {
    std::vector<bench::policy_summary>& summaries = where.set == "random" ? random : published;
    std::size_t at = 0;
    (measure<Policies>(where, wanted.effort, results, summaries[at++]), ...);
  }
  if (corpus.empty()) {
    std::printf("no case contains \"%s\"\n", wanted.filter.c_str());
    return 1;
  }
  results.print();
  bench::table totals = bench::summary_table();
  for (const bench::policy_summary& summary : published) summary.write(totals, "published");
  for (const bench::policy_summary& summary : random) summary.write(totals, "random");
  totals.print();
  std::printf(
      "before, after: utilization of the devices; below: points below the bound, which no fill can exceed.\n"
      "interval, age: steps between two refreshes, and between statistics and their use, of the worst layer; limit: "
      "the\n"
      "load rounded up, and 2. kept: inputs and errors that wait for their statistics, worst device. ns/piece: "
      "placing\n"
      "alone; search: the whole of fill. Times are the least of %d runs, of one where a search takes over 50 ms.\n",
      wanted.effort == bench::effort::full ? 3 : 1);
  bench::write_json(
      wanted.json, {{"format", "brim.bench.fill_policies/1"}, {"results", results.json()}, {"summary", totals.json()}});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments wanted =
      bench::parse_arguments(argc, argv, "fill_policies", "every fill policy over a corpus of timelines");
  try {
    return run(wanted, policies{});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_fill_policies: %s\n", e.what());
    return 1;
  }
}
