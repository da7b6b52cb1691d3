// SPDX-License-Identifier: Apache-2.0
// How long the published numbers of steps take on our timeline of BERT-Large, and how long they took as published
// (PipeFisher, arXiv 2211.14133). The first argument is the folder of the examples.
#include <brim/fill/fill.hpp>
#include <brim/fill/kfac_work.hpp>
#include <brim/io/read_profile.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/chimera.hpp>

#include <exception>
#include <filesystem>
#include <iomanip>
#include <iostream>

namespace {

struct run {
  const char* name;
  int steps;
  double published_step;  // in ms
  double our_step;        // in ms
};

double minutes(int steps, double step) { return steps * step / 60'000; }
double in_ms(brim::ticks time) { return 1e-6 * static_cast<double>(time); }

void print(const run& r) {
  std::cout << std::left << std::setw(24) << r.name << std::right << std::setw(6) << r.steps << std::setw(12)
            << r.published_step << std::setw(9) << minutes(r.steps, r.published_step) << std::setw(12) << r.our_step
            << std::setw(9) << minutes(r.steps, r.our_step) << "\n";
}

void print_share(const char* name, double published, double ours) {
  std::cout << std::left << std::setw(30) << name << std::right << std::setw(19) << 100 * published << " %"
            << std::setw(19) << 100 * ours << " %\n";
}

}  // namespace

int main(int count, char** words) try {
  const std::filesystem::path examples = count > 1 ? words[1] : "examples";
  const brim::profile profile = brim::io::read_profile(examples / "profiles" / "bert-large-p100-head.json");
  const brim::timeline pipeline = simulate(brim::schemes::chimera{}, {.devices = 8, .microbatches = 8}, profile);
  const brim::filled filled = brim::fill(pipeline, brim::kfac_work{.profile = profile});
  const run first_order{"first order (NVLAMB)", 7038, 2345.6, in_ms(makespan(pipeline))};
  const run second_order{"K-FAC in the bubbles", 5000, 2499.5, in_ms(filled.step_length)};

  std::cout << std::fixed << std::setprecision(1) << "BERT-Large, chimera, 8 devices, 8 microbatches of 32, P100\n"
            << "                                   published           our timeline\n"
            << "                         steps   ms a step      min   ms a step      min\n";
  print(first_order);
  print(second_order);
  print_share(
      "K-FAC's share of it",
      minutes(second_order.steps, second_order.published_step) / minutes(first_order.steps, first_order.published_step),
      minutes(second_order.steps, second_order.our_step) / minutes(first_order.steps, first_order.our_step));
  print_share("K-FAC's step is longer by", second_order.published_step / first_order.published_step - 1,
              second_order.our_step / first_order.our_step - 1);
  std::cout
      << "\nThe numbers of steps are the published ones: brim says how long a step takes, not how many it takes to "
         "converge.\n"
         "The published inputs are not known in full. Here the head and the transfers are estimates, chosen so that "
         "the devices\n"
         "are busy for the published 59.8 % before the fill (ours: "
      << 100 * (1 - bubble_ratio(pipeline)) << " %; after it " << 100 * filled.report.utilization
      << " %, published 97.6 %). The profile\nhas no gradient sums and no optimizer update, which a real step has too."
         " The paper counts communication as busy; brim does not.\n";
} catch (const std::exception& error) {
  std::cerr << "training_time: " << error.what() << "\n";
  return 1;
}
