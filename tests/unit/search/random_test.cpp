// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <brim/search/random.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

using brim::detail::random_numbers;

TEST_CASE("the published numbers of SplitMix64") {
  random_numbers random(1234567);
  CHECK(random.next() == 6457827717110365317U);
  CHECK(random.next() == 3203168211198807973U);
  CHECK(random.next() == 9817491932198370423U);
}

TEST_CASE("uniform below a count") {
  random_numbers random(1);
  std::array<int, 7> seen{};
  for (int k = 0; k < 70'000; ++k) ++seen[static_cast<std::size_t>(random.below(7))];
  for (const int count : seen) CHECK((count > 9'500 && count < 10'500));
  CHECK(random.below(1) == 0);
}

TEST_CASE("waiting times halve with every unit") {
  random_numbers random(1);
  std::array<int, 4> longer{};
  for (int k = 0; k < 80'000; ++k) {
    const std::int64_t time = random.waiting();
    CHECK(time > 0);
    for (std::size_t unit = 0; unit < 4; ++unit)
      if (time > static_cast<std::int64_t>(unit) << 16) ++longer[unit];
  }
  for (std::size_t unit = 1; unit < 4; ++unit) {
    const int expected = 80'000 >> unit;
    CHECK((longer[unit] > expected * 96 / 100 && longer[unit] < expected * 104 / 100));
  }
}
