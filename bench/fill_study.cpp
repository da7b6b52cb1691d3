// SPDX-License-Identifier: Apache-2.0
// The table of the study that preceded brim, done by brim, side by side; and the published run of BERT-Large.
#include "support/arguments.hpp"
#include "support/fill_quality.hpp"
#include "support/study.hpp"
#include "support/study_goals.hpp"
#include "support/study_runs.hpp"
#include "support/table.hpp"
#include "support/write_json.hpp"

#include <brim/brim.hpp>

#include <cstdio>
#include <exception>
#include <optional>
#include <string>

namespace {

using bench::cell;

cell given(double number) { return number == 0 ? cell() : cell(number); }
cell given(std::int32_t number) { return number == 0 ? cell() : cell(number); }

cell utilization(const std::optional<brim::fill_report>& report) {
  return report ? cell(bench::percent(report->utilization)) : cell();
}

bench::table overview_table() {
  return {"Utilization in percent, the study's and ours",
          {{"case", "case"},
           {"study_base", "base", 1},
           {"base", "ours", 2},
           {"study_load", "load", 2},
           {"load", "ours", 2},
           {"study_bound", "bound", 1},
           {"bound", "ours", 2},
           {"study_one_shot", "one-shot", 1},
           {"one_shot", "ours", 2},
           {"study_automatic", "auto", 2},
           {"table", "table", 2},
           {"stream", "stream", 2},
           {"study_panels", "auto+pan", 2},
           {"panels", "table+pan", 2},
           {"points_below_bound", "below", 2},
           {"remark", "remark"}}};
}

bench::table freshness_table() {
  return {"Worst layer's interval / greatest age / kept MiB on the worst device",
          {{"case", "case"},
           {"form", "form"},
           {"study_interval", "interval", 1},
           {"interval", "ours", 2},
           {"study_age", "age"},
           {"age", "ours"},
           {"age_limit", "limit"},
           {"study_kept_mebibytes", "kept", 0},
           {"kept_mebibytes", "ours", 0}}};
}

void add_overview(bench::table& out, const bench::study_case& c, const bench::study_run& run) {
  cell base, load, bound, below;
  if (const auto& r = run.table) {
    base = bench::percent(r->utilization_before);
    load = bench::mean_load(*r);
    bound = bench::percent(r->bound);
    below = bench::points_below_bound(*r);
  }
  out.add({c.name, given(c.base), base, given(c.load), load, given(c.bound), bound, given(c.one_shot.utilization),
           utilization(run.one_shot), given(c.automatic.utilization), utilization(run.table), utilization(run.stream),
           given(c.panels.utilization), utilization(run.panels), below,
           run.one_shot_cut ? "one-shot with panels: an inversion fits no bubble" : ""});
}

void add_freshness(bench::table& out, const bench::study_case& c, const char* form, const bench::study_form& study,
                   const std::optional<brim::fill_report>& report) {
  if (!report) return;
  const bench::age_excess age = bench::worst_age(*report);
  out.add({c.name, form, given(study.interval), report->refresh_interval, given(study.age), report->greatest_age,
           age.limit, given(study.kept), bench::mebibytes(report->kept)});
}

void print_published(const bench::study_run& run) {
  const bench::published_run paper;
  const double before_ms = 1e-6 * static_cast<double>(makespan(run.pipeline));
  const double after_ms = 1e-6 * static_cast<double>(run.step);
  const auto minutes = [](double steps, double ms) { return steps * ms / 60'000; };
  std::printf(
      "BERT-Large, Chimera on 8 devices, 8 microbatches of 32, with head, transfers of 2 ms: baseline %.1f %% -> %.1f "
      "%% "
      "(published: %.1f %% -> %.1f %%), bound %.1f %%\n",
      bench::percent(run.table->utilization_before), bench::percent(run.table->utilization), paper.before_percent,
      paper.after_percent, bench::percent(run.table->bound));
  std::printf("precondition makes a step %.1f %% longer (published: %.1f %%)\n\n", bench::percent(run.table->overhead),
              paper.overhead_percent);
  bench::table time("Time to the published numbers of steps", {{"", "optimizer"},
                                                               {"", "steps", 0},
                                                               {"", "published ms/step", 1},
                                                               {"", "published minutes", 1},
                                                               {"", "our ms/step", 1},
                                                               {"", "our minutes", 1}});
  time.add({"first order", paper.first_order_steps, paper.first_order_step_ms, paper.first_order_minutes, before_ms,
            minutes(paper.first_order_steps, before_ms)});
  time.add({"K-FAC", paper.kfac_steps, paper.kfac_step_ms, paper.kfac_minutes, after_ms,
            minutes(paper.kfac_steps, after_ms)});
  const auto ratio = [](double above, double below) { return cell(100 * above / below); };
  time.add({"K-FAC / first order, %", ratio(paper.kfac_steps, paper.first_order_steps),
            ratio(paper.kfac_step_ms, paper.first_order_step_ms), ratio(paper.kfac_minutes, paper.first_order_minutes),
            ratio(after_ms, before_ms),
            ratio(minutes(paper.kfac_steps, after_ms), minutes(paper.first_order_steps, before_ms))});
  time.print();
  std::printf(
      "The published inputs are not known in full: the head and the transfers are estimates, the transfers chosen so "
      "that the\n"
      "baseline is the published one, and our step holds neither gradient sums nor the first-order update. The paper "
      "counts\n"
      "communication as busy, brim does not. So this is no reproduction of 97.6 %%: it is what a plan reaches on a "
      "timeline with\n"
      "the same baseline. The numbers of steps are the paper's; brim says nothing about convergence.\n");
}

int run(const bench::arguments& wanted) {
  bench::table overview = overview_table();
  bench::table freshness = freshness_table();
  bench::study_goals goals;
  std::optional<bench::study_run> published;
  int cases = 0;
  for (const bench::study_case& c : bench::study) {
    if (!wanted.wants(c.name)) continue;
    ++cases;
    if (is_planned(c.scheme)) {
      overview.add({c.name,
                    given(c.base),
                    {},
                    given(c.load),
                    {},
                    given(c.bound),
                    {},
                    given(c.one_shot.utilization),
                    {},
                    given(c.automatic.utilization),
                    {},
                    {},
                    given(c.panels.utilization),
                    {},
                    {},
                    "not yet: brim has no such scheme"});
      continue;
    }
    const bool is_published = c.name == "Large Chimera head 2 ms";
    if (wanted.effort == bench::effort::once && cases > 2 && !is_published) continue;
    const bench::study_run done = bench::run_study_case(c);
    add_overview(overview, c, done);
    add_freshness(freshness, c, "one-shot", c.one_shot, done.one_shot);
    add_freshness(freshness, c, "table", c.automatic, done.table);
    add_freshness(freshness, c, "stream", c.automatic, done.stream);
    add_freshness(freshness, c, "table+pan", c.panels, done.panels);
    goals.add(std::string(c.name), done);
    if (is_published && done.table) published = done;
  }
  if (cases == 0) {
    std::printf("no case contains \"%s\"\n", wanted.filter.c_str());
    return 1;
  }
  overview.print();
  std::printf(
      "base: without second-order work; load: one refresh of everything / bubbles of one step, mean of the devices; "
      "table: fill\n"
      "as it stands; +pan: every inversion in panels; below: points of the table below its bound. The study's auto "
      "cuts no\n"
      "inversion and decides step by step; ours cuts one where it has to.\n\n");
  freshness.print();
  goals.print();
  if (published) print_published(*published);
  bench::write_json(
      wanted.json,
      {{"format", "brim.bench.fill_study/1"}, {"utilization", overview.json()}, {"freshness", freshness.json()}});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments wanted =
      bench::parse_arguments(argc, argv, "fill_study", "brim beside the study that preceded it, and beside the paper");
  try {
    return run(wanted);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_fill_study: %s\n", e.what());
    return 1;
  }
}
