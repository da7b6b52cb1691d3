// SPDX-License-Identifier: Apache-2.0
// The program of docs/tutorial.md.
#include <brim/brim.hpp>

#include <iomanip>
#include <iostream>

int main() {
  std::cout << std::fixed << std::setprecision(1);

  // [profile]
  // Times in nanoseconds, memory in bytes: what one microbatch costs on one stage.
  brim::layer_profile linear{.name = "linear",
                             .statistic_a = 2'000'000,
                             .statistic_b = 2'000'000,
                             .refresh_a = 9'000'000,
                             .refresh_b = 9'000'000,
                             .precondition = 600'000,
                             .saved_inputs = 12 << 20,
                             .saved_errors = 12 << 20};
  brim::stage_profile stage{.cost = {.forward = 20'000'000, .backward = 40'000'000},
                            .memory = {.weights = 600 << 20, .activations = 300 << 20},
                            .layers = {linear, linear, linear, linear}};
  const brim::profile profile{.stages = {stage}, .links = {.p2p = {1'000'000}}};
  // [/profile]

  // [timeline]
  const brim::pipeline_shape shape{.devices = 4, .microbatches = 6};
  const brim::timeline timeline = simulate(brim::schemes::one_f_one_b{}, shape, profile);
  const brim::lower_bound bound = makespan_bound(timeline, profile);
  std::cout << "a step takes " << 1e-6 * static_cast<double>(makespan(timeline)) << " ms, at least "
            << 1e-6 * static_cast<double>(bound.length) << " ms (" << name_of(bound.binding) << "); "
            << 100 * bubble_ratio(timeline) << " % of it is idle\n";
  // [/timeline]

  // [memory]
  for (const brim::bytes peak : peak_memory(timeline, profile)) std::cout << "peak " << (peak >> 20) << " MiB\n";
  // [/memory]

  // [fill]
  const brim::filled filled = fill(timeline, brim::kfac_work{profile});
  const brim::fill_report& report = filled.report;
  std::cout << "busy " << 100 * report.utilization_before << " % before, " << 100 * report.utilization << " % after, "
            << 100 * report.bound << " % at most\n"
            << "every layer anew within " << report.refresh_interval << " steps, inverses at most "
            << report.greatest_age << " steps old\n"
            << "a step gets " << 100 * report.overhead << " % longer, and up to " << (report.kept >> 20)
            << " MiB wait for their statistics\n";
  // [/fill]

  // [plan]
  const brim::plan plan = lower(filled, {.transport = brim::transport::one_queue});
  verify(plan);
  std::cout << plan.instructions.size() << " instructions, repeating every " << plan.steps << " steps\n";
  // [/plan]

  // [broken]
  brim::plan broken = plan;
  broken.instructions.pop_back();
  try {
    verify(broken);
  } catch (const brim::error& e) {
    std::cout << name_of(e.code()) << ": refused\n";
  }
  // [/broken]
}
