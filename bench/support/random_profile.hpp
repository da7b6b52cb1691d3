// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>
#include <brim/model/profile.hpp>

#include <cstdint>
#include <string>

namespace bench {

/// The same numbers on every machine, unlike the standard distributions (SplitMix64).
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  std::int32_t between(std::int32_t least, std::int32_t most) {
    return least + static_cast<std::int32_t>(next() % static_cast<std::uint64_t>(most - least + 1));
  }

 private:
  std::uint64_t state_;
};

/// Ticks for work on matrices at the speed of a P100, as the published kernel times of a BERT block give it: multiplications
/// of matrices, factorisations, and the two small products of preconditioning.
struct matrix_speed {
  std::int64_t product = 3'000;  ///< multiply-adds a nanosecond
  std::int64_t statistic = 4'000;
  std::int64_t factorisation = 870;  ///< cubed dimension a nanosecond
  std::int64_t precondition = 3'200;
};

/// A layer of a random stage: two dimensions of 256 … 4096, 4096 tokens a microbatch.
inline brim::layer_profile random_layer(random_source& random) {
  constexpr std::int64_t tokens = 4096;
  constexpr matrix_speed speed;
  const std::int64_t in = 256 * random.between(1, 16);
  const std::int64_t out = 256 * random.between(1, 16);
  brim::layer_profile layer;
  layer.name = std::to_string(in) + "x" + std::to_string(out);
  layer.inputs = static_cast<std::int32_t>(in);
  layer.outputs = static_cast<std::int32_t>(out);
  layer.statistic_a = tokens * in * in / speed.statistic;
  layer.statistic_b = tokens * out * out / speed.statistic;
  layer.refresh_a = in * in * in / speed.factorisation;
  layer.refresh_b = out * out * out / speed.factorisation;
  layer.precondition = in * out * (in + out) / speed.precondition;
  layer.saved_inputs = 4 * tokens * in;
  layer.saved_errors = 4 * tokens * out;
  layer.factors = 4 * (in * in + out * out);
  return layer;
}

/// Stages whose times differ by up to 30 % from those of their layers' products, with slow links: what a partitioner
/// leaves behind. All stages have the same number of layers, 4 … 23, and none the same layers.
inline brim::profile random_profile(random_source& random, std::int32_t stages) {
  constexpr std::int64_t tokens = 4096;
  constexpr matrix_speed speed;
  brim::profile out;
  out.name = "random";
  const std::int32_t layers = random.between(4, 23);
  for (std::int32_t s = 0; s < stages; ++s) {
    brim::stage_profile stage;
    std::int64_t products = 0;
    for (std::int32_t l = 0; l < layers; ++l) {
      stage.layers.push_back(random_layer(random));
      products += tokens * stage.layers.back().inputs * stage.layers.back().outputs;
    }
    out.stages.push_back(std::move(stage));
    out.stages.back().cost.forward = products / speed.product;
  }
  std::int64_t mean = 0;
  for (const brim::stage_profile& stage : out.stages) mean += stage.cost.forward / stages;
  for (brim::stage_profile& stage : out.stages) {
    stage.cost.forward = mean * random.between(700, 1300) / 1000;
    stage.cost.backward = stage.cost.forward * random.between(1500, 2200) / 1000;
  }
  out.links.p2p = {mean * random.between(0, 100) / 1000};
  return out;
}

}  // namespace bench
