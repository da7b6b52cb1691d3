// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <brim/optimizer/grad_scale.hpp>

#include <cmath>

namespace {

using brim::grad_scale;
using brim::needs_redo;
using brim::norm_chain;
constexpr norm_chain small{.squares = 0.25};
constexpr norm_chain medium{.squares = 16};
constexpr norm_chain large{.squares = 25};
constexpr norm_chain bad{.squares = 25, .overflow = true};

}  // namespace

TEST_CASE("the factor is min(1, max_norm / (norm + epsilon))") {
  CHECK(brim::scale_of(large) == grad_scale{});
  CHECK(brim::scale_of(small, {.max_norm = 1}) == grad_scale{});
  CHECK(brim::scale_of({}, {.max_norm = 1}) == grad_scale{});
  CHECK(brim::scale_of(large, {.max_norm = 1, .epsilon = 0}) == grad_scale{.factor = 0.2});
  CHECK(brim::scale_of(large, {.max_norm = 2}).factor == doctest::Approx(2 / (5 + 1e-6)).epsilon(1e-15));
  CHECK(brim::scale_of({.squares = 1}, {.max_norm = 1}).factor < 1);
}

TEST_CASE("an overflow skips, whatever the norm") {
  CHECK(brim::scale_of(bad) == grad_scale{.factor = 0, .skipped = true});
  CHECK(brim::scale_of(bad, {.max_norm = 1}) == grad_scale{.factor = 0, .skipped = true});
}

TEST_CASE("a step is made again only where it would have come out differently") {
  CHECK_FALSE(needs_redo(small, large));  // no clipping
  CHECK_FALSE(needs_redo(small, medium, {.max_norm = 5}));
  CHECK_FALSE(needs_redo(large, large, {.max_norm = 1}));
  CHECK_FALSE(needs_redo(bad, {.squares = 30, .overflow = true}, {.max_norm = 1}));  // skipped either way
  CHECK(needs_redo(small, large, {.max_norm = 1}));                                  // clipping begins
  CHECK(needs_redo(medium, large, {.max_norm = 1}));                                 // and goes on
  CHECK(needs_redo(large, bad));
  CHECK(needs_redo(bad, large));
  CHECK(needs_redo<float>(bad, large, {.max_norm = 1e-60}));  // a factor that is 0 as a float still moves moments
}

TEST_CASE("factors are compared as they are used") {
  const norm_chain near{.squares = std::nextafter(25.0, 26.0)};
  const brim::clipping clip{.max_norm = 1, .epsilon = 0};
  const norm_chain nearer{.squares = 25 * (1 + 1e-12)};
  CHECK(needs_redo(large, nearer, clip));
  CHECK_FALSE(needs_redo<float>(large, nearer, clip));
  CHECK_FALSE(needs_redo<float>(large, near, clip));
  CHECK(needs_redo<float>(medium, large, clip));
}
