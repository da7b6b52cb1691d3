// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/optimizer/grad_scale.hpp>
#include <brim/optimizer/kept_parameters.hpp>
#include <brim/optimizer/kept_residues.hpp>
#include <brim/optimizer/norm_chain.hpp>
#include <brim/optimizer/step.hpp>

// A pipeline that trains with a barrier before the optimizer and one that validates afterwards stay equal to the last bit.

using namespace test_support;

namespace {

constexpr brim::clipping clip{.max_norm = 0.5};

template <class Optimizer, class Scalar>
using stage = std::vector<tensor<Optimizer, Scalar>>;

template <class Optimizer, class Scalar>
using pipeline = std::vector<stage<Optimizer, Scalar>>;

struct counts {
  int redone = 0;
  int kept = 0;
  int skipped = 0;
  int postponed = 0;
};

template <class Optimizer, class Scalar>
pipeline<Optimizer, Scalar> make_pipeline(const Optimizer& optimizer, std::size_t stages, unsigned seed) {
  std::mt19937 random(seed);
  pipeline<Optimizer, Scalar> all(stages);
  for (stage<Optimizer, Scalar>& s : all) {
    for (const std::size_t size : {300u, 17u}) s.push_back(make_tensor(optimizer, mild<Scalar>(random, size, 0.05)));
    s.push_back(make_tensor(optimizer, std::vector<Scalar>(5)));  // a bias
  }
  return all;
}

/// Gradients depend on the parameters, so that one wrong bit stays. Most are small; some are clipped, some overflow.
template <class Optimizer, class Scalar>
void backward(pipeline<Optimizer, Scalar>& all, unsigned seed) {
  std::mt19937 random(seed);
  const auto kind = random() % 10;
  const std::size_t where = random() % all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double size = kind < 2 && (i == where || kind == 0) ? 0.3 : 1e-4;
    for (auto& t : all[i]) {
      t.gradient = mild<Scalar>(random, t.parameters.size(), size);
      for (std::size_t j = 0; j < t.gradient.size(); ++j) t.gradient[j] += t.parameters[j] * Scalar{0.015625};
    }
  }
  std::vector<Scalar>& gradient = all[where][random() % 3].gradient;
  if (kind == 2) gradient[0] = std::numeric_limits<Scalar>::infinity();
  if (kind == 3) gradient[1] = std::numeric_limits<Scalar>::quiet_NaN();
}

template <class Optimizer, class Scalar>
brim::norm_chain own_norm(const stage<Optimizer, Scalar>& s) {
  brim::norm_chain own;
  for (const auto& t : s) own = merge(own, brim::norm_of(std::span<const Scalar>(t.gradient)));
  return own;
}

template <class Optimizer, class Scalar>
void step_finally(const Optimizer& optimizer, tensor<Optimizer, Scalar>& t, const brim::grad_scale& scale) {
  brim::no_undo<Scalar> none;
  step(optimizer, t.state, none, t.parameters, t.gradient, scale);
}

template <class Optimizer, class Scalar>
void train_with_barrier(const Optimizer& optimizer, pipeline<Optimizer, Scalar>& all) {
  std::vector<brim::norm_chain> gathered;
  for (const auto& s : all) gathered.push_back(own_norm(s));
  const brim::grad_scale scale = scale_of(brim::merge_all(gathered), clip);
  for (auto& s : all)
    for (auto& t : s) {
      step_finally(optimizer, t, scale);
      keep(optimizer, t.state, t.gradient);
    }
}

template <class Optimizer, class Scalar, class Log>
void train_and_validate(const Optimizer& optimizer, pipeline<Optimizer, Scalar>& all,
                        std::vector<std::vector<Log>>& logs, counts& count) {
  std::vector<brim::norm_chain> partial;
  std::vector<std::vector<brim::step_outcome>> outcomes(all.size());
  brim::norm_chain chain;
  for (std::size_t i = 0; i < all.size(); ++i) {  // down the devices: each steps with what it knows
    chain = merge(chain, own_norm(all[i]));
    partial.push_back(chain);
    for (std::size_t j = 0; j < all[i].size(); ++j) {
      auto& t = all[i][j];
      outcomes[i].push_back(step(optimizer, t.state, logs[i][j], t.parameters, t.gradient, scale_of(chain, clip)));
    }
  }
  const brim::grad_scale complete = scale_of(chain, clip);
  for (std::size_t i = all.size(); i-- > 0;) {  // and back, in the next iteration's warm-up
    const bool redo = brim::needs_redo<Scalar>(partial[i], chain, clip);
    for (std::size_t j = 0; j < all[i].size(); ++j) {
      auto& t = all[i][j];
      const bool postponed = outcomes[i][j] == brim::step_outcome::postponed;
      if (redo && !postponed) undo(optimizer, t.state, logs[i][j], t.parameters, t.gradient);
      if (redo || postponed) step_finally(optimizer, t, complete);
      keep(optimizer, t.state, t.gradient);
      ++(postponed ? count.postponed : redo ? count.redone : complete.skipped ? count.skipped : count.kept);
    }
  }
}

template <class Optimizer, class Scalar>
void check_equal(const pipeline<Optimizer, Scalar>& a, const pipeline<Optimizer, Scalar>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j) REQUIRE(a[i][j] == b[i][j]);
}

template <class Scalar, class Log, class Make>
counts compare(std::size_t stages, unsigned seed, Make make_log) {
  counts count;
  for_each_optimizer([&](const char* name, const auto& optimizer) {
    using optimizer_type = std::remove_cvref_t<decltype(optimizer)>;
    CAPTURE(name);
    CAPTURE(stages);
    CAPTURE(seed);
    auto with_barrier = make_pipeline<optimizer_type, Scalar>(optimizer, stages, seed);
    auto validated = with_barrier;
    std::vector<std::vector<Log>> logs(stages);
    for (std::size_t i = 0; i < stages; ++i)
      for (const auto& t : validated[i]) logs[i].push_back(make_log(t.parameters.size()));
    for (unsigned iteration = 0; iteration < 30; ++iteration) {
      backward(with_barrier, 1000 * seed + iteration);
      backward(validated, 1000 * seed + iteration);
      train_with_barrier(optimizer, with_barrier);
      train_and_validate(optimizer, validated, logs, count);
      check_equal(with_barrier, validated);
    }
  });
  return count;
}

}  // namespace

TEST_CASE_TEMPLATE("validating afterwards and waiting give the same bits", Scalar, float, double) {
  for (const std::size_t stages : {1u, 2u, 5u, 8u}) {
    const counts copies = compare<Scalar, brim::kept_parameters<Scalar>>(
        stages, 11, [](std::size_t size) { return brim::kept_parameters<Scalar>(size); });
    CHECK(copies.kept > 0);
    CHECK(copies.skipped > 0);
    CHECK(copies.postponed == 0);
    CHECK((copies.redone > 0) == (stages > 1));  // the last stage knows everything

    const counts bytes = compare<Scalar, brim::kept_residues<Scalar>>(
        stages, 12, [](std::size_t size) { return brim::kept_residues<Scalar>(size, 4); });
    CHECK(bytes.kept > 0);
    CHECK(bytes.postponed > 0);
    CHECK((bytes.redone > 0) == (stages > 1));
    MESSAGE(stages << " stages: " << bytes.kept << " kept, " << bytes.redone << " redone, " << bytes.skipped
                   << " skipped, " << bytes.postponed << " postponed");
  }
}
