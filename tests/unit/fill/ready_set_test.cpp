// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <brim/fill/ready_set.hpp>

#include <cstdint>
#include <set>

TEST_CASE("a ready set is a set") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{64}, std::size_t{65}, std::size_t{5'000}}) {
    CAPTURE(size);
    brim::detail::ready_set ours(size);
    std::set<std::size_t> naive;
    std::uint64_t random = size;
    for (int i = 0; i < 3'000; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const std::size_t at = (random >> 33) % size;
      if ((random >> 20) % 2 == 0) {
        ours.insert(at);
        naive.insert(at);
      } else {
        ours.erase(at);
        naive.erase(at);
      }
      const std::size_t from = (random >> 40) % size;
      const auto next = naive.lower_bound(from);
      CHECK(ours.first_from(from) == (next == naive.end() ? brim::detail::ready_set::none : *next));
    }
  }
}
