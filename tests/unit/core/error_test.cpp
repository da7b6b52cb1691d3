// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <doctest/doctest.h>
#include <brim/core/config.hpp>
#include <brim/core/error.hpp>
#include <brim/core/text.hpp>

#include <cstdint>
#include <stdexcept>

TEST_CASE("an error carries its code, sentence and site") {
  const brim::error e(brim::error_code::deadlock, "stuck", {.device = 3, .stage = 1});
  CHECK(e.code() == brim::error_code::deadlock);
  CHECK(std::string_view(e.what()) == "stuck");
  CHECK(e.site() == brim::error_site{.device = 3, .step = -1, .stage = 1, .microbatch = -1, .layer = -1});
  CHECK(brim::error(brim::error_code::bad_file, "x").site() == brim::error_site{});
}

TEST_CASE("the failure handler is replaced and given back") {
  const brim::failure_handler mine = [](const brim::error&) {};
  const brim::failure_handler before = brim::set_failure_handler(mine);
  CHECK((before != mine));
  CHECK((brim::set_failure_handler(before) == mine));
}

TEST_CASE("text joins words and integers") {
  CHECK(brim::detail::text() == "");
  CHECK(brim::detail::text("a", 'b', std::string("c"), std::string_view("d"), -5,
                           std::uint64_t{18446744073709551615u}) == "abcd-518446744073709551615");
}

TEST_CASE("an expectation that holds costs nothing") {
  int evaluated = 0;
  BRIM_EXPECT(++evaluated == 1);
  CHECK(evaluated == 1);
}

#if BRIM_HAS_EXCEPTIONS
TEST_CASE("raise throws a brim::error that is a runtime_error") {
  CHECK_THROWS_AS(brim::raise(brim::error_code::bad_plan, "no"), std::runtime_error);
  const brim::error e = test_support::error_of([] { brim::raise(brim::error_code::bad_plan, "no", {.layer = 4}); });
  CHECK(test_support::says(e, brim::error_code::bad_plan, "no"));
  CHECK_FALSE(test_support::matches(e, brim::error_code::bad_plan, "yes"));  // the helper can fail
  CHECK_FALSE(test_support::matches(e, brim::error_code::bad_file, "no"));
  CHECK(e.site().layer == 4);
}
#endif
