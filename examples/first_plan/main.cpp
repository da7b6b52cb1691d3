// SPDX-License-Identifier: Apache-2.0
// From a measured profile to a verified plan: BERT-Base in four stages on four P100, K-FAC in the bubbles.
// [program]
#include <brim/brim.hpp>
#include <brim/io/ascii_grid.hpp>
#include <brim/io/read_profile.hpp>
#include <iostream>

int main(int count, char** words) {
  if (count != 2) return std::cerr << "usage: first_plan <the folder examples>\n", 2;
  const auto profile = brim::io::read_profile(words[1] + std::string("/profiles/bert-base-p100.json"));
  const auto pipeline = simulate(brim::schemes::chimera{}, {.devices = 4, .microbatches = 4}, profile);
  const auto filled = fill(pipeline, brim::kfac_work{profile});
  const auto plan = lower(filled, {.transport = brim::transport::one_queue});
  verify(plan);  // throws brim::error, which says where and why
  std::cout << brim::io::ascii_grid(filled, {.width = 72, .steps = 1});
  std::cout << plan.instructions.size() << " instructions for " << plan.steps << " steps, verified\n";
}
// [/program]
