// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/optimizer/concepts.hpp>

#include <archetypes.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// For each concept of the optimizers a type that models it and nothing more.
namespace test_support {

/// `undoable_optimizer`: the sum of all gradients is subtracted, one moment is that sum.
struct optimizer_archetype : archetype_base {
  using archetype_base::archetype_base;
  static constexpr only_converts<std::size_t> moment_count{1};
  struct numbers {
    only_converts<double> shrink{1};
  };
  [[nodiscard]] only_converts<numbers> prepare(std::int64_t, double, std::span<const double>,
                                               const brim::gradient_view<double, 1>&) const {
    return {};
  }
  void update(const numbers&, const brim::gradient_view<double, 1>& block, std::span<double> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = block.moments[0][i] + block.gradient[i];
  }
  void advance(const numbers&, std::span<const double> gradient, const brim::moment_spans<double, 1>& moments) const {
    for (std::size_t i = 0; i < gradient.size(); ++i) moments[0][i] += gradient[i];
  }
};

/// `undo_log` that keeps copies.
struct undo_log_archetype : archetype_base {
  using archetype_base::archetype_base;
  static constexpr only_converts<bool> needs_updates{true};
  only_converts<bool> record(std::size_t first, std::span<const double> before, std::span<const double>,
                             std::span<const double>, double) {
    if (first == 0) kept.clear();
    kept.insert(kept.end(), before.begin(), before.end());
    return {true};
  }
  void restore(std::size_t first, std::span<double> parameters, std::span<const double>, double) const {
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] = kept[first + i];
  }
  std::vector<double> kept;
};

}  // namespace test_support
