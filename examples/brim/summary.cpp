// SPDX-License-Identifier: Apache-2.0
#include "summary.hpp"

#include "words.hpp"

#include <brim/core/text.hpp>
#include <brim/schedule/metrics.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace tool {
namespace {

using brim::detail::text;

/// A line of the summary: a name, a value, and what it means.
void line(std::string& out, std::string_view name, const std::string& value, const std::string& meaning) {
  std::string start = text("  ", name);
  start.resize(std::max<std::size_t>(start.size() + 1, 17), ' ');
  out += start + value;
  if (!meaning.empty()) {
    constexpr std::size_t column = 46;
    const std::size_t used = start.size() + value.size();
    out.append(used + 2 < column ? column - used : 2, ' ');
    out += meaning;
  }
  out += '\n';
}

void length(std::string& out, const brim::timeline_view& t, brim::length_kind kind, std::string_view name,
            const char* meaning) {
  line(out, name, text(milliseconds(length_of(t, kind)), ", ", percent(bubble_ratio(t, kind)), " bubble"), meaning);
}

std::size_t greatest(const std::vector<brim::bytes>& amounts) {
  return static_cast<std::size_t>(std::max_element(amounts.begin(), amounts.end()) - amounts.begin());
}

void add_bound(std::string& out, const outcome& made) {
  if (made.searched) {
    const search_report& found = *made.searched;
    const double gap =
        static_cast<double>(found.length) / static_cast<double>(std::max<brim::ticks>(1, found.bound)) - 1;
    const std::string what = name_of(found.goal) == "longest_span" ? "span" : std::string(name_of(found.goal));
    line(out, "lower bound", text(milliseconds(found.bound), ", gap ", percent(gap)),
         text("of the ", what, ", which the search made short; ", found.binding));
    return;
  }
  const brim::ticks makespan = brim::makespan(made.pipeline);
  const brim::lower_bound& bound = made.bound;
  const double gap = bound.length == 0 ? 0 : static_cast<double>(makespan) / static_cast<double>(bound.length) - 1;
  const std::string why = bound.binding == brim::lower_bound::reason::path
                              ? std::string("one microbatch's way through all stages and back")
                              : text("the work of device ", bound.device.value, ", with the shortest way in and out");
  line(out, "lower bound", text(milliseconds(bound.length), ", gap ", percent(gap)), "of the makespan: " + why);
}

void add_memory(std::string& out, const job& work, const outcome& made) {
  const std::size_t most = greatest(made.peaks);
  if (made.peaks[most] == 0) {
    line(out, "peak memory", "unknown", "the profile says nothing about memory");
    return;
  }
  std::string each;
  constexpr std::size_t shown = 8;
  for (std::size_t d = 0; d < std::min(shown, made.peaks.size()); ++d)
    each += (d == 0 ? "" : ", ") + size(made.peaks[d]);
  if (made.peaks.size() > shown) each += ", ...";
  line(out, "peak memory", text(size(made.peaks[most]), " on device ", most), "by device: " + each);
  if (!work.limits.empty()) {
    std::size_t least = most;  // the device with the least room
    brim::bytes room = brim::largest_memory;
    for (std::size_t d = 0; d < work.limits.size(); ++d)
      if (work.limits[d] > 0 && work.limits[d] - made.peaks[d] < room) {
        room = work.limits[d] - made.peaks[d];
        least = d;
      }
    line(out, "memory limit", size(work.limits[least]),
         text("leaves ", size(room), " on device ", least, ", the tightest"));
  }
}

void add_fill(std::string& out, const outcome& made, const brim::filled& filled) {
  const brim::fill_report& report = filled.report;
  out += text("\nK-FAC in the bubbles: ", report.policy, ", a table of ", counted(filled.cycle_length, "step"),
              " that repeats");
  if (filled.replicas > 1) out += text(", ", filled.replicas, " replicas");
  out += '\n';
  line(out, "utilization", percent(report.utilization_before) + " -> " + percent(report.utilization),
       "pipeline and K-FAC, mean of the devices");
  line(out, "cannot exceed", percent(report.bound), what_binds(report));
  line(out, "load", fixed(report.load, 2), "work of one refresh of everything / bubble of one step");
  const factor_count factors = count_factors(filled);
  line(out, "factors", text(fixed(factors.refreshed_a_step, 1), " of ", factors.all, " a step"),
       "how many are refreshed in a step, mean");
  line(out, "refresh", "every " + fixed(report.refresh_interval, 2) + " steps",
       "the layer that is refreshed least often, mean");
  const auto young = static_cast<std::int32_t>(std::ceil(report.load)) + 2;
  line(out, "greatest age", counted(report.greatest_age, "step"),
       text("from a layer's statistics to the preconditioning that uses them",
            report.greatest_age > young ? text("; more than the load + 2, so look at other policies or schemes") : ""));
  // Both with the update of the weights, which is not in the makespan.
  const auto without =
      static_cast<brim::ticks>(std::llround(static_cast<double>(filled.step_length) / (1 + report.overhead)));
  line(out, "precondition", "+ " + percent(report.overhead) + " a step",
       text("a step takes ", milliseconds(filled.step_length), ", without K-FAC ", milliseconds(without)));
  const std::size_t most = greatest(made.factors);
  line(out, "kept memory", size(report.kept),
       text("inputs and errors that wait; factors take ", size(made.factors[most]), " more on device ", most));
}

}  // namespace

factor_count count_factors(const brim::filled& filled) {
  std::vector<std::array<std::int32_t, 3>> refreshed;
  for (const brim::placed_work& work : filled.work)
    if (work.what.kind == brim::action_kind::refresh && work.piece == 0)
      refreshed.push_back({work.what.stage.value, work.what.layer.value, static_cast<std::int32_t>(work.what.side)});
  const double a_step = static_cast<double>(refreshed.size()) / filled.cycle_length;
  std::sort(refreshed.begin(), refreshed.end());
  return {.all = std::unique(refreshed.begin(), refreshed.end()) - refreshed.begin(), .refreshed_a_step = a_step};
}

std::string what_binds(const brim::fill_report& report) {
  std::int64_t short_of_work = 0;
  for (const brim::device_report& device : report.devices)
    if (device.load < 1) ++short_of_work;
  const auto lanes = static_cast<std::int64_t>(report.devices.size());
  if (short_of_work == 0) return "the bubbles bind: they would be full";
  if (short_of_work == lanes) return "the work binds: every layer would be refreshed in every step";
  return text("the work binds on ", short_of_work, " of ", lanes, " devices, the bubbles on the others");
}

std::string summary(const job& work, const outcome& made) {
  const brim::timeline_view t = made.pipeline;
  std::string out =
      text(t.scheme, ": ", counted(work.shape.devices, "device"), ", ", counted(work.shape.microbatches, "microbatch"));
  if (work.shape.chunks > 1) out += text(", ", work.shape.chunks, " chunks");
  if (work.shape.pairs > 1) out += text(", ", work.shape.pairs, " pairs");
  if (!work.costs.name.empty()) out += text("; ", work.costs.name);
  out += '\n';
  if (!work.note.empty()) out += "note: " + work.note + '\n';
  out += "\nthe pipeline alone\n";
  length(out, t, brim::length_kind::makespan, "makespan",
         "first start to last end of all devices; a step with a barrier");
  length(out, t, brim::length_kind::longest_span, "longest span", "first start to last end of one device");
  length(out, t, brim::length_kind::period, "period", "from step to step without a barrier");
  add_bound(out, made);
  add_memory(out, work, made);
  if (made.filled) add_fill(out, made, *made.filled);
  return out;
}

}  // namespace tool
