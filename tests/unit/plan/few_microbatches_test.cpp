// SPDX-License-Identifier: Apache-2.0
// Fewer microbatches than routes: some holders of a stage have no statistics, and no part in their sums.
#include <brim/brim.hpp>

#include <doctest/doctest.h>

TEST_CASE("lower: routes without microbatches take no part in sums of statistics") {
  brim::layer_profile layer{.name = "linear", .statistic_a = 10, .statistic_b = 10, .refresh_a = 40, .refresh_b = 40};
  layer.precondition = 5;
  brim::stage_profile stage{.cost = {.forward = 100, .backward = 200}};
  stage.layers = {layer, layer};
  const brim::profile profile{.stages = {stage}};
  for (const std::int32_t pairs : {1, 2})
    for (const std::int32_t microbatches : {1, 2, 3})
      for (const std::int32_t replicas : {1, 2}) {
        CAPTURE(pairs);
        CAPTURE(microbatches);
        CAPTURE(replicas);
        const brim::pipeline_shape shape{.devices = 4, .microbatches = microbatches, .pairs = pairs};
        const auto filled = fill(simulate(brim::schemes::chimera{}, shape, profile),
                                 brim::kfac_work{.profile = profile, .replicas = replicas});
        for (std::int32_t replica = 0; replica < replicas; ++replica)
          CHECK(!find_fault(lower(filled, {.replica = replica})));
      }
}
