// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <doctest/doctest.h>
#include <brim/model/placement.hpp>
#include <brim/model/shape.hpp>

#include <limits>
#include <vector>

namespace {

using brim::pipeline_shape;

std::vector<int> numbers(const std::vector<brim::device_index>& devices) {
  std::vector<int> out;
  for (const brim::device_index d : devices) out.push_back(d.value);
  return out;
}

}  // namespace

TEST_CASE("a shape is written with all its numbers") {
  CHECK(brim::to_string({.devices = 4, .microbatches = 8, .chunks = 2, .pairs = 3}) ==
        "devices=4 microbatches=8 chunks=2 pairs=3");
}

TEST_CASE("placements") {
  CHECK(numbers(brim::one_stage_a_device({.devices = 3}).holders) == std::vector<int>{0, 1, 2});
  CHECK(numbers(brim::looped({.devices = 2, .chunks = 3}).holders) == std::vector<int>{0, 1, 0, 1, 0, 1});

  const brim::placement one = brim::mirrored_pairs({.devices = 4, .pairs = 1});
  CHECK(one.routes == 2);
  CHECK(numbers(one.holders) == std::vector<int>{0, 1, 2, 3, 3, 2, 1, 0});
  const brim::placement two = brim::mirrored_pairs({.devices = 4, .pairs = 2});
  CHECK(two.routes == 4);
  CHECK(numbers(two.holders) == std::vector<int>{0, 1, 2, 3, 3, 2, 1, 0, 2, 3, 0, 1, 1, 0, 3, 2});
  CHECK(two.device_of(brim::route_index(2), brim::stage_index(1)) == brim::device_index(3));
  CHECK(two.route_of(brim::microbatch_index(7)) == brim::route_index(3));
}

#if BRIM_HAS_EXCEPTIONS
namespace {
using test_support::error_of;
using test_support::says;
brim::error refused(const pipeline_shape& shape) {
  return error_of([&] { brim::check_shape(shape); });
}
}  // namespace

TEST_CASE("shapes that make no sense are refused by rule") {
  constexpr std::int32_t greatest = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  constexpr brim::error_code code = brim::error_code::bad_shape;
  for (const std::int32_t bad : {0, -1, least}) {
    CHECK(says(refused({.devices = bad}), code, "at least one device", "devices=" + std::to_string(bad)));
    CHECK(says(refused({.microbatches = bad}), code, "at least one microbatch", "microbatches=" + std::to_string(bad)));
    CHECK(says(refused({.chunks = bad}), code, "at least one chunk"));
    CHECK(says(refused({.pairs = bad}), code, "at least one pair"));
  }
  CHECK(says(refused({.devices = 1 << 14, .pairs = 1 << 13}), code, "at most 2^26 stage copies"));
  CHECK(says(refused({.devices = 2, .pairs = 3}), code, "more pairs of routes than devices"));
  CHECK(says(refused({.devices = 8, .microbatches = 1'000'000'000}), code, "at most 2^26", "microbatches=1000000000"));
  CHECK(says(refused({.devices = greatest}), code, "at most 2^26"));
  CHECK(says(refused({.devices = greatest, .microbatches = greatest, .chunks = greatest, .pairs = greatest}), code,
             "at most 2^26"));
  CHECK(says(refused({.devices = 65536, .chunks = 65536}), code, "at most 2^26"));  // the product is 2^32
  CHECK(says(refused({.chunks = greatest}), code, "at most 2^26"));
}

TEST_CASE("the limit is 2^26 actions exactly") {
  brim::check_shape({.devices = 1 << 12, .microbatches = 1 << 13});
  CHECK(says(refused({.devices = 1 << 12, .microbatches = (1 << 13) + 1}), brim::error_code::bad_shape, "2^26"));
}
#endif
