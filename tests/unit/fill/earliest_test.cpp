// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <brim/fill/earliest.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

TEST_CASE("the earliest clock is found, the first of equal ones") {
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{64}, std::size_t{65}}) {
    CAPTURE(count);
    brim::detail::earliest ours(count);
    CHECK(ours.time() == brim::detail::earliest::never);
    std::vector<brim::ticks> naive(count, brim::detail::earliest::never);
    std::uint64_t random = count;
    for (int i = 0; i < 2'000; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const std::size_t clock = (random >> 33) % count;
      naive[clock] = static_cast<brim::ticks>((random >> 20) % 50);
      ours.set(clock, naive[clock]);
      const auto first = std::min_element(naive.begin(), naive.end());
      CHECK(ours.first() == static_cast<std::size_t>(first - naive.begin()));
      CHECK(ours.time() == *first);
    }
  }
}
