// SPDX-License-Identifier: Apache-2.0
// From the costs of a stage to a schedule, what it wastes, and the least that any schedule of these stages takes.
#include <brim/brim.hpp>

#include <iomanip>
#include <iostream>

int main() {
  brim::stage_profile stage;  // three BERT-Base blocks on a P100, in nanoseconds
  stage.cost = {.forward = 29'244'000, .backward = 49'350'000};
  brim::profile profile;
  profile.stages = {stage};       // every stage is like this one
  profile.links.p2p = {626'000};  // from one device to the next

  const auto report = [&](const brim::timeline& timeline) {
    std::cout << timeline.program.scheme << ": a step takes " << 1e-6 * static_cast<double>(makespan(timeline))
              << " ms, " << 100 * bubble_ratio(timeline) << " % of it idle; no order of these stages takes less than "
              << 1e-6 * static_cast<double>(makespan_bound(timeline, profile).length) << " ms\n";
  };
  std::cout << std::fixed << std::setprecision(1);
  report(simulate(brim::schemes::one_f_one_b{}, {.devices = 4, .microbatches = 4}, profile));
  report(simulate(brim::schemes::chimera{}, {.devices = 4, .microbatches = 4}, profile));
}
