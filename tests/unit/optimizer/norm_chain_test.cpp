// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <brim/optimizer/norm_chain.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using brim::norm_chain;
constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float none = std::numeric_limits<float>::quiet_NaN();

template <class Scalar>
norm_chain of(const std::vector<Scalar>& gradient) {
  return brim::norm_of(std::span<const Scalar>(gradient));
}

}  // namespace

TEST_CASE("sums of squares") {
  CHECK(of<float>({}) == norm_chain{});
  CHECK(of<float>({3, -4}) == norm_chain{.squares = 25});
  CHECK(of<float>({3, -4}).norm() == 5);
  for (std::size_t size = 0; size < 40; ++size) {  // every way in which lanes can be left over
    std::vector<double> numbers(size);
    double expected = 0;
    for (std::size_t i = 0; i < size; ++i) {
      numbers[i] = static_cast<double>(i + 1);
      expected += numbers[i] * numbers[i];
    }
    CHECK(of(numbers) == norm_chain{.squares = expected});
  }
}

TEST_CASE("floats are summed in double") {
  CHECK(of<float>({1e30F, 1e-30F}).squares == doctest::Approx(1e60));
  CHECK(of<float>({std::numeric_limits<float>::denorm_min()}).squares == std::ldexp(1.0, -298));
  CHECK_FALSE(of(std::vector<float>(10'000, std::numeric_limits<float>::max())).overflow);
  const norm_chain many = of(std::vector<float>(1 << 25, 1.0F));  // a float would stop at 2^24
  CHECK(many.squares == std::ldexp(1.0, 25));
}

TEST_CASE("overflow is what is not finite, and the square of a double that has none") {
  CHECK(of<float>({1, infinite, 2}).overflow);
  CHECK(of<float>({1, none}).overflow);
  CHECK(of<float>({infinite, -infinite}).overflow);
  CHECK(of<double>({1e200}).overflow);
  CHECK_FALSE(of<double>({1e153}).overflow);
  CHECK(brim::merge({.squares = 1e308}, {.squares = 1e308}).overflow);
}

TEST_CASE("overflow stays, whoever had it") {
  const norm_chain bad{.squares = 1, .overflow = true};
  CHECK(merge(bad, {}).overflow);
  CHECK(merge({}, bad).overflow);
  CHECK_FALSE(brim::merge({}, {}).overflow);
  CHECK(merge(merge(of<float>({none}), of<float>({1})), of<float>({2})).overflow);
}

TEST_CASE("a chain ends with the bits of the gathered sum; another order need not") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(-30, 30);
  int differs = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<norm_chain> stages(8);
    for (norm_chain& stage : stages) stage.squares = std::exp2(exponent(random));
    norm_chain chain;
    double last = 0;
    for (const norm_chain& own : stages) {
      chain = merge(chain, own);
      CHECK(chain.squares >= last);  // partial sums only grow
      last = chain.squares;
    }
    CHECK(chain == brim::merge_all(stages));
    norm_chain backwards;
    for (std::size_t i = stages.size(); i-- > 0;) backwards = merge(backwards, stages[i]);
    differs += backwards == chain ? 0 : 1;
  }
  CHECK(differs > 0);
}
