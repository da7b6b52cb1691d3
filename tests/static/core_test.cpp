// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <brim/core/error.hpp>
#include <brim/model/action.hpp>
#include <brim/model/shape.hpp>

namespace {

constexpr std::int64_t sum(std::int64_t count) {
  std::int64_t total = 0;
  for (const brim::stage_index s : brim::index_range<brim::stage_index>(count)) total += s.value;
  return total;
}
static_assert(sum(0) == 0 && sum(1) == 0 && sum(5) == 10);
static_assert(brim::device_index(3) < brim::device_index(4) && brim::device_index(3) == brim::device_index(3));
static_assert(brim::route_index(-1).value == -1 && brim::stage_index(7).at() == 7);

constexpr bool every_kind_has_its_own_name() {
  for (std::size_t a = 0; a < brim::action_kind_count; ++a)
    for (std::size_t b = 0; b < brim::action_kind_count; ++b)
      if ((brim::name_of(static_cast<brim::action_kind>(a)) == brim::name_of(static_cast<brim::action_kind>(b))) !=
          (a == b))
        return false;
  return true;
}
static_assert(every_kind_has_its_own_name());
static_assert(brim::name_of(brim::action_kind::user) == "user" &&
              brim::name_of(brim::action_kind::backward_input) == "backward_input");
static_assert(static_cast<std::size_t>(brim::action_kind::user) + 1 == brim::action_kind_count);
static_assert(brim::is_pipeline_action(brim::action_kind::recompute) &&
              !brim::is_pipeline_action(brim::action_kind::optimizer_step));
static_assert(!brim::is_second_order(brim::action_kind::optimizer_step) &&
              brim::is_second_order(brim::action_kind::statistic) &&
              brim::is_second_order(brim::action_kind::precondition) &&
              !brim::is_second_order(brim::action_kind::sync_gradient));
static_assert(brim::name_of(brim::side::a) == "a" && brim::name_of(brim::side::b) == "b" &&
              brim::name_of(brim::side::none) == "none");

constexpr bool accepted(const brim::pipeline_shape& shape) {
  brim::check_shape(shape);
  return true;
}
static_assert(accepted({1, 1}) && accepted({4096, 8192}) &&
              accepted({.devices = 8, .microbatches = 1, .chunks = 3, .pairs = 8}));

}  // namespace

TEST_CASE("every error code has its own name") {
  for (int a = 0; a <= static_cast<int>(brim::error_code::io_failure); ++a) {
    CHECK(brim::name_of(static_cast<brim::error_code>(a)) != "unknown");
    for (int b = 0; b < a; ++b)
      CHECK(brim::name_of(static_cast<brim::error_code>(a)) != brim::name_of(static_cast<brim::error_code>(b)));
  }
  CHECK(brim::name_of(static_cast<brim::error_code>(200)) == "unknown");
}
