// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "outputs.hpp"
#include "summary.hpp"
#include "words.hpp"

#include <brim/core/text.hpp>
#include <brim/schedule/metrics.hpp>

#include <algorithm>

namespace tool {
namespace {

using brim::detail::text;
using cells = std::vector<std::string>;

/// The names of the columns and, below, their units.
std::vector<cells> heading(fill_kind fill) {
  cells names{"scheme", "makespan", "bubble", "period", "gap", "peak"};
  cells units{"", "ms", "%", "%", "%", ""};
  if (fill == fill_kind::kfac) {
    names.insert(names.end(), {"K-FAC", "bound", "factors", "interval", "age", "overhead", "kept"});
    units.insert(units.end(), {"%", "%", "a step", "steps", "", "%", ""});
  }
  return {names, units};
}

std::string hundred(double share) { return fixed(100 * share, 1); }
std::string gap_percent(double gap) { return fixed(100 * gap, gap < 0.9995 ? 1 : 0); }

cells row_of(const outcome& made) {
  const brim::timeline_view t = made.pipeline;
  const brim::ticks makespan = brim::makespan(t);
  const brim::ticks bound = made.searched ? made.searched->bound : made.bound.length;
  const brim::bytes peak = *std::max_element(made.peaks.begin(), made.peaks.end());
  cells row{std::string(t.scheme),
            fixed(1e-6 * static_cast<double>(makespan), 1),
            hundred(bubble_ratio(t)),
            hundred(bubble_ratio(t, brim::length_kind::period)),
            bound == 0 ? "0.0" : gap_percent(static_cast<double>(makespan) / static_cast<double>(bound) - 1),
            peak == 0 ? "unknown" : size(peak)};
  if (made.filled) {
    const brim::fill_report& report = made.filled->report;
    row.push_back(hundred(report.utilization));
    row.push_back(hundred(report.bound));
    row.push_back(fixed(count_factors(*made.filled).refreshed_a_step, 1));
    row.push_back(fixed(report.refresh_interval, 2));
    row.push_back(std::to_string(report.greatest_age));
    row.push_back(hundred(report.overhead));
    row.push_back(size(report.kept));
  }
  return row;
}

bool lists_layers(const brim::profile& costs) {
  return std::any_of(costs.stages.begin(), costs.stages.end(),
                     [](const brim::stage_profile& s) { return !s.layers.empty(); });
}

/// The table and what is to be said about it. A scheme that refuses is a row with its reason.
class comparison {
 public:
  comparison(const compare_request& request, const brim::profile& costs)
      : request_(request.job),
        costs_(costs),
        only_(request.schemes) {
    if (request_.devices == left_out && costs.stages.size() > 1)
      request_.devices = static_cast<std::int64_t>(costs.stages.size());  // also where stages will be cut into chunks
    if (!lists_layers(costs)) request_.fill = fill_kind::none;
    table_.rows = heading(request_.fill);
  }

  std::string run() {
    for (const scheme_entry& scheme : schemes()) {
      if (!only_.empty() && std::find(only_.begin(), only_.end(), scheme.name) == only_.end()) continue;
      try {
        add(scheme);
      } catch (const brim::error& refusal) {
        if (refusal.code() == brim::error_code::bad_shape) throw;  // of every scheme alike
        std::string reason = refusal.what();
        reason = reason.substr(0, reason.find('\n'));
        const std::string prefix = std::string(scheme.name) + ": ";
        if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
        reasons_ += text("\n  ", scheme.name, ": ", reason);
        table_.rows.push_back({std::string(scheme.name), "refused: " + readable(reason)});
      }
    }
    if (planned_ == 0) brim::raise(brim::error_code::refused_shape, "no scheme can be planned" + reasons_);
    return title_ + '\n' + table_.text() + remarks();
  }

 private:
  void add(const scheme_entry& scheme) {
    job_request request = request_;
    if (scheme.pairs == pair_rule::none) request.pairs = 1;
    const job work = prepare_job(request, costs_, scheme.name, scheme.chunks);
    if (title_.empty())
      title_ = text(counted(work.shape.devices, "device"), ", ", counted(work.shape.microbatches, "microbatch"),
                    costs_.name.empty() ? "" : "; ", costs_.name, "\n");
    const outcome made = run_job(work, request, scheme.name);
    if (made.filled) factors_ = count_factors(*made.filled).all;
    table_.rows.push_back(row_of(made));
    if (!work.note.empty()) note_ = work.note;
    ++planned_;
  }

  [[nodiscard]] std::string remarks() const {
    std::string out =
        "\nbubble    idle share of the makespan, before any fill\n"
        "period    idle share of the period, which is a step without a barrier\n"
        "gap       how much longer the makespan is than any order of these stages must be (auto: in its memory)\n"
        "peak      memory of the pipeline alone, worst device\n"
        "          Sums of gradients and results over several holders of a stage (chimera, replicas) take no time "
        "here, and\n"
        "          transfers do not wait for each other; brim plan says what its transport adds.\n";
    if (request_.fill == fill_kind::kfac)
      out += text("K-FAC     busy share of a step with K-FAC in the bubbles, policy ", request_.policy,
                  "\nbound     what no fill exceeds: a device's bubbles full, or every layer of it refreshed in every "
                  "step; then the mean"
                  "\nfactors   how many are refreshed in a step, mean; there are ",
                  factors_,
                  "\ninterval  steps from one refresh of a layer to its next, worst layer"
                  "\nage       of the oldest curvature in use, in steps"
                  "\noverhead  what preconditioning adds to every step"
                  "\nkept      inputs and errors that wait, on top of peak and factors\n");
    if (!lists_layers(costs_)) out += "The profile lists no layers, so there is no K-FAC work to place.\n";
    if (!note_.empty()) out += text("chunks    ", note_, ".\n");
    return out;
  }

  job_request request_;
  const brim::profile& costs_;
  const std::vector<std::string>& only_;
  text_table table_;
  std::string title_;
  std::string note_;
  std::string reasons_;
  std::int64_t factors_ = 0;
  int planned_ = 0;
};

}  // namespace

std::string run_compare(const compare_request& request) {
  const brim::profile costs = read_profile(request.job.profile);
  return comparison(request, costs).run();
}

std::string run_schemes() {
  std::string out = "m microbatches, p devices, v chunks; f, b: forward and backward of all stages of a device\n\n";
  text_table table{.rows = {{"scheme", "bubble of a device", "keeps at most", "accepts", "is"}}};
  for (const scheme_entry& scheme : schemes())
    table.rows.push_back({std::string(scheme.name), std::string(scheme.bubble), std::string(scheme.keeps),
                          std::string(scheme.accepts), std::string(scheme.summary)});
  table.left_from = 0;
  out += table.text();
  return out +
         "\nBubbles are closed forms for equal stages and free transfers; brim plan gives those of your profile.\n";
}

}  // namespace tool
