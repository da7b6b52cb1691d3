// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/build_filled.hpp>
#include <brim/fill/fill.hpp>
#include <brim/fill/group_cycle.hpp>
#include <brim/fill/threshold_admission.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace brim {

/// What a stream needs beyond the options of a table.
struct stream_options {
  fill_options fill;  ///< `longest_cycle` and `tolerance` have no meaning for a stream
  std::int32_t threshold_permille =
      0;  ///< work started ahead, of one step's bubbles; 0: the best of a small grid, for each group of lanes
  std::int32_t warm_up_steps = 40;   ///< steps that the report leaves out
  std::int32_t measured_steps = 60;  ///< steps that the report and the search look at
};

/// The same rule without a table: each call gives the optional work of the next step, so that a trainer can plan while it
/// trains. Deterministic: every replica that makes the same calls gets the same work.
///
/// A layer's refresh starts when the backlog allows it, the layer that waited longest first, at most two of a layer in
/// flight. A table (`fill`) is as full and can be checked once and for all; a stream fits where durations change.
/// Complexity of `next`: O(pieces of the step × log).
/// Errors of the constructor: those of `fill`.
template <work_source Source, fill_policy Policy = fills::oldest_longest>
class fill_stream {
 public:
  explicit fill_stream(const timeline& pipeline, const Source& source, const Policy& policy = {},
                       const stream_options& options = {})
      : policy_(policy),
        options_(options),
        devices_(pipeline.program.shape.devices),
        prepared_(detail::prepare_fill(pipeline, source, options.fill)) {
    check();
    std::vector<detail::group_cycle> measured;
    for (const detail::fill_group& group : prepared_.groups) {
      measured.push_back(search(group));
      runs_.emplace_back(prepared_.work, prepared_.bubbles, group, policy_, options_.fill.margin_permille);
      admissions_.emplace_back(prepared_, group, chosen_, options_.fill.margin_permille);
    }
    report_ = detail::make_report(pipeline, prepared_, measured, Policy::name);
  }
  fill_stream(const fill_stream&) = delete;
  fill_stream& operator=(const fill_stream&) = delete;

  /// The optional work of the next step, by replica, device and start. `step` and `origin_step` count from the first call.
  /// Valid until the next call.
  const std::vector<placed_work>& next() {
    step_work_.clear();
    const detail::placement_writer writer(prepared_.work, prepared_.bubbles, devices_);
    for (std::size_t g = 0; g < runs_.size(); ++g) {
      runs_[g].placed().clear();
      runs_[g].run_step(admissions_[g].next(runs_[g]));
      for (const detail::run_piece& piece : runs_[g].placed()) step_work_.push_back(writer.piece(piece, 0));
    }
    std::sort(step_work_.begin(), step_work_.end(), detail::before_in_plan);
    return step_work_;
  }

  /// Measured over `measured_steps` after the warm-up.
  [[nodiscard]] const fill_report& report() const { return report_; }
  [[nodiscard]] ticks step_length() const { return prepared_.bubbles.step_length; }

 private:
  /// Steps that one run of the search may take.
  static constexpr std::int32_t most_steps = 4096;

  void check() const {
    const auto within = [](const char* field, std::int32_t value, std::int32_t least, std::int32_t most) {
      if (value < least || value > most)
        raise(error_code::no_fill,
              detail::text("stream_options: ", field, " is ", value, "; expected ", least, " … ", most));
    };
    within("threshold_permille", options_.threshold_permille, 0, 100'000);
    within("warm_up_steps", options_.warm_up_steps, 1, most_steps / 4);
    within("measured_steps", options_.measured_steps, 1, most_steps / 4);
  }

  static constexpr std::int32_t grid[] = {1000, 1100, 1250, 1500, 1750, 2000, 2500, 3000, 4000};

  /// Runs the group with every threshold; keeps, of those near the most work, the one with the lowest age, then the least memory.
  detail::group_cycle search(const detail::fill_group& group) {
    std::vector<detail::admission_threshold> candidates;
    if (options_.threshold_permille > 0)
      candidates.push_back({options_.threshold_permille, false});
    else
      for (const std::int32_t permille : grid)
        for (const bool caps : {false, true}) candidates.push_back({permille, caps});
    detail::kept_refusal refused;
    std::vector<measured_run> runs;
    double most = 0;
    for (const detail::admission_threshold& candidate : candidates) {
      measured_run run{candidate, measure(group, candidate)};
      if (!run.cycle.found()) continue;
      const detail::kept_refusal over = detail::over_limit(options_.fill, group, run.cycle, devices_);
      refused = detail::nearer(refused, over);
      if (over.exists()) continue;
      for (const detail::lane_numbers& lane : run.cycle.lanes) run.work += static_cast<double>(lane.work);
      most = std::max(most, run.work);
      runs.push_back(std::move(run));
    }
    if (runs.empty()) {
      refused.raise_if_any();
      raise(error_code::no_fill, detail::text("fill_stream: work is still pending after ", most_steps, " steps"));
    }
    const double near = static_cast<double>(group.lanes.size()) * options_.measured_steps *
                        static_cast<double>(prepared_.bubbles.step_length) / 500;
    const measured_run* best = nullptr;
    for (const measured_run& run : runs)
      if (run.work + near >= most &&
          (best == nullptr || detail::sort_key(run.cycle.greatest_age, run.cycle.kept) <
                                  detail::sort_key(best->cycle.greatest_age, best->cycle.kept)))
        best = &run;
    chosen_ = best->threshold;
    return best->cycle;
  }

  struct measured_run {
    detail::admission_threshold threshold;
    detail::group_cycle cycle;
    double work = 0;  ///< in the window, over all lanes
  };

  detail::group_cycle measure(const detail::fill_group& group, detail::admission_threshold threshold) const {
    detail::filler<Policy> run(prepared_.work, prepared_.bubbles, group, policy_, options_.fill.margin_permille);
    detail::threshold_admission<Policy> admission(prepared_, group, threshold, options_.fill.margin_permille);
    const std::int32_t end = options_.warm_up_steps + options_.measured_steps;
    while (run.step() < end) run.run_step(admission.next(run));
    while (!run.idle() && run.step() < most_steps) run.run_step({});
    if (!run.idle()) return {};
    return detail::describe_cycle(prepared_, group, std::move(run.placed()),
                                  {options_.warm_up_steps, options_.measured_steps, false});
  }

  Policy policy_;
  stream_options options_;
  std::int32_t devices_;
  detail::prepared_fill prepared_;
  detail::admission_threshold chosen_;
  std::vector<detail::filler<Policy>> runs_;
  std::vector<detail::threshold_admission<Policy>> admissions_;
  std::vector<placed_work> step_work_;
  fill_report report_;
};

}  // namespace brim
