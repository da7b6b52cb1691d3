// SPDX-License-Identifier: Apache-2.0
// expect: undoable_optimizer: optimizer.update(numbers, gradient_view, out)
#include <brim/optimizer/no_undo.hpp>
#include <brim/optimizer/step.hpp>

struct mine {
  static constexpr std::size_t moment_count = 0;
  struct numbers {
    double shrink = 1;
  };
  numbers prepare(std::int64_t, double, std::span<const float>, const brim::gradient_view<float, 0>&) const {
    return {};
  }
#ifndef NEGATIVE
  void update(const numbers&, const brim::gradient_view<float, 0>& block, std::span<float> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = block.gradient[i];
  }
#endif
  void advance(const numbers&, std::span<const float>, const brim::moment_spans<float, 0>&) const {}
};

void use(std::span<float> parameters, std::span<const float> gradient) {
  auto state = brim::make_state<float>(mine{}, parameters.size());
  brim::no_undo<float> none;
  step(mine{}, state, none, parameters, gradient, {});
}
