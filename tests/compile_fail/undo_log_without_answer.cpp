// SPDX-License-Identifier: Apache-2.0
// expect: undo_log: needs_updates, log.record(first, before, after, updates, shrink) -> bool
#include <brim/optimizer/sgd.hpp>
#include <brim/optimizer/step.hpp>

struct mine {
  static constexpr bool needs_updates = false;
#ifndef NEGATIVE
  bool record(std::size_t, std::span<const float>, std::span<const float>, std::span<const float>, float) {
    return true;
  }
#else
  void record(std::size_t, std::span<const float>, std::span<const float>, std::span<const float>, float) {}
#endif
  void restore(std::size_t, std::span<float>, std::span<const float>, float) {}
};

void use(std::span<float> parameters, std::span<const float> gradient) {
  const brim::optimizers::sgd optimizer;
  auto state = brim::make_state<float>(optimizer, parameters.size());
  mine log;
  step(optimizer, state, log, parameters, gradient, {});
}
