// SPDX-License-Identifier: Apache-2.0
#include "archetypes.hpp"

#include <doctest/doctest.h>
#include <brim/optimizer/adam.hpp>
#include <brim/optimizer/kept_parameters.hpp>
#include <brim/optimizer/kept_residues.hpp>
#include <brim/optimizer/lamb.hpp>
#include <brim/optimizer/no_undo.hpp>
#include <brim/optimizer/sgd.hpp>
#include <brim/optimizer/step.hpp>

#include <type_traits>

using namespace test_support;

namespace {

template <class O>
constexpr bool for_both = brim::undoable_optimizer<O, float> && brim::undoable_optimizer<O, double> &&
                          std::is_aggregate_v<O> && std::is_trivially_copyable_v<O>;
static_assert(for_both<brim::optimizers::sgd> && for_both<brim::optimizers::adam> &&
              for_both<brim::optimizers::adamw> && for_both<brim::optimizers::lamb>);
static_assert(!brim::undoable_optimizer<brim::optimizers::sgd, long double>);
static_assert(!brim::undoable_optimizer<int, float>);

template <template <class> class L>
constexpr bool logs_both = brim::undo_log<L<float>, float> && brim::undo_log<L<double>, double>;
static_assert(logs_both<brim::kept_parameters> && logs_both<brim::kept_residues> && logs_both<brim::no_undo>);
static_assert(!brim::undo_log<brim::kept_parameters<float>, double> && !brim::undo_log<int, float>);

static_assert(brim::undoable_optimizer<optimizer_archetype, double>);
static_assert(!brim::undoable_optimizer<optimizer_archetype, float>);
static_assert(brim::undo_log<undo_log_archetype, double>);

// Each misses one thing.
struct no_count : optimizer_archetype {
  void moment_count();
};
struct no_shrink : optimizer_archetype {
  struct numbers {};
};
struct no_prepare : optimizer_archetype {
  void prepare() const;
};
struct no_update : optimizer_archetype {
  void update() const;
};
struct mutable_advance : optimizer_archetype {
  void advance(const numbers&, std::span<const double>, const brim::moment_spans<double, 1>&);
};
struct no_restore : undo_log_archetype {
  void restore();
};
struct silent_record : undo_log_archetype {
  void record(std::size_t, std::span<const double>, std::span<const double>, std::span<const double>, double);
};
static_assert(!brim::has_moment_count<no_count> && !brim::undoable_optimizer<no_count, double>);
static_assert(!brim::has_step_numbers<no_shrink> && !brim::undoable_optimizer<no_shrink, double>);
static_assert(!brim::prepares_steps<no_prepare, double> && !brim::undoable_optimizer<no_prepare, double>);
static_assert(!brim::computes_updates<no_update, double> && !brim::undoable_optimizer<no_update, double>);
static_assert(!brim::advances_moments<mutable_advance, double> && brim::computes_updates<mutable_advance, double>);
static_assert(!brim::restores_blocks<no_restore, double> && !brim::undo_log<no_restore, double>);
static_assert(!brim::records_blocks<silent_record, double> && !brim::undo_log<silent_record, double>);

}  // namespace

TEST_CASE("steps ask for no more than the concepts say") {
  const optimizer_archetype optimizer(0);
  undo_log_archetype log(0);
  auto state = brim::make_state<double>(optimizer, 2);
  std::vector<double> parameters{10, 20};
  const std::vector<double> gradient{1, 2};
  step(optimizer, state, log, parameters, gradient, {});
  CHECK(parameters == std::vector<double>{9, 18});
  undo(optimizer, state, log, parameters, gradient);
  CHECK(parameters == std::vector<double>{10, 20});
  step(optimizer, state, log, parameters, gradient, {});
  keep(optimizer, state, gradient);
  step(optimizer, state, log, parameters, gradient, {});
  CHECK(parameters == std::vector<double>{7, 14});
  CHECK(state.steps == 1);
}
