// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <doctest/doctest.h>
#include <brim/core/text.hpp>
#include <brim/scheme/scheme.hpp>

#include <string>
#include <vector>

namespace {

using brim::device_index;
using brim::pipeline_shape;
using namespace brim::schemes;

/// `"+0.1"`, `"-0.1"`, `"*0.1"`: forward, backward or its input half, weight half of microbatch 1 on stage 0.
std::string row(const brim::order& made, int device) {
  std::string out;
  for (const brim::action& a : made.row(device_index(device))) {
    const char sign = a.kind == brim::action_kind::forward           ? '+'
                      : a.kind == brim::action_kind::backward_weight ? '*'
                                                                     : '-';
    out += brim::detail::text(out.empty() ? "" : " ", sign, a.stage.value, '.', a.microbatch.value);
    if (made.where.routes > 1) out += brim::detail::text('r', a.route.value);
  }
  return out;
}

std::vector<int> holders(const brim::placement& where) {
  std::vector<int> out;
  for (const device_index d : where.holders) out.push_back(d.value);
  return out;
}

/// Calls `order` of every device by itself, without `prepare`.
template <class Scheme>
brim::order one_by_one(const Scheme& scheme, const pipeline_shape& shape) {
  brim::order made{
      .scheme = scheme.name, .shape = shape, .where = scheme.placement(shape), .actions = {}, .offsets = {0}};
  brim::order_sink out(made.actions);
  for (const device_index d : brim::devices(shape)) {
    scheme.order(shape, d, out);
    made.offsets.push_back(made.actions.size());
  }
  return made;
}

/// A forward at a time, the deepest first; each backward when all forwards are over.
struct forwards_first {
  static constexpr brim::backward_form form = brim::backward_form::whole;
  static constexpr std::int32_t longest = 2;
  [[nodiscard]] constexpr std::int32_t slots(brim::action_kind kind) const {
    return kind == brim::action_kind::forward ? 1 : 2;
  }
  [[nodiscard]] constexpr std::int64_t urgency(brim::action_kind kind, const list_lane& lane,
                                               std::span<const list_lane> own) const {
    if (kind == brim::action_kind::forward) return 10 - lane.stage.value;
    for (const list_lane& other : own)
      if (other.forwards < 2) return -1;
    return 100 + lane.backwards;
  }
};

}  // namespace

TEST_CASE("zig-zag and two-way placements") {
  CHECK(holders(brim::zig_zag({3, 1, 2})) == std::vector{0, 1, 2, 2, 1, 0});
  CHECK(holders(brim::zig_zag({2, 1, 3})) == std::vector{0, 1, 1, 0, 0, 1});
  const brim::placement both = brim::two_way(brim::zig_zag({2, 1, 2}));
  CHECK(both.routes == 2);
  CHECK(both.stages == 4);
  CHECK(holders(both) == std::vector{0, 1, 1, 0, 1, 0, 0, 1});
  CHECK(brim::two_way(brim::one_stage_a_device({4, 1})) == brim::mirrored_pairs({4, 1}));
}

TEST_CASE("ZB-V, also with few microbatches") {
  const brim::order made = brim::make_order(zero_bubble_v{}, {2, 3, 2});
  CHECK(row(made, 0) == "+0.0 +0.1 +0.2 +3.0 -3.0 *3.0 +3.1 -3.1 *3.1 -0.0 *0.0 +3.2 -3.2 *3.2 -0.1 *0.1 -0.2 *0.2");
  CHECK(row(made, 1) == "+1.0 +2.0 +1.1 +2.1 -2.0 *2.0 +1.2 -1.0 *1.0 +2.2 -2.1 *2.1 -1.1 -2.2 -1.2 *1.1 *2.2 *1.2");
  const brim::order few = brim::make_order(zero_bubble_v{}, {3, 2, 2});
  CHECK(row(few, 0) == "+0.0 +0.1 +5.0 -5.0 +5.1 -5.1 *5.0 *5.1 -0.0 *0.0 -0.1 *0.1");
  CHECK(row(few, 2) == "+2.0 +3.0 +2.1 +3.1 -3.0 -2.0 -3.1 -2.1 *3.0 *2.0 *3.1 *2.1");
  CHECK(row(brim::make_order(zero_bubble_v{}, {1, 1, 2}), 0) == "+0.0 +1.0 -1.0 *1.0 -0.0 *0.0");
}

TEST_CASE("V-Half and V-Min, squeezed and in the slots of their blocks") {
  CHECK(row(brim::make_order(v_half{}, {2, 2, 2}), 0) == "+0.0 +0.1 +3.0 -3.0 +3.1 -3.1 -0.0 *3.0 -0.1 *3.1 *0.0 *0.1");
  CHECK(row(brim::make_order(v_half{block_form::stamped}, {2, 2, 2}), 0) ==
        "+0.0 +3.0 +0.1 -3.0 *3.0 +3.1 -0.0 -3.1 *0.0 *3.1 -0.1 *0.1");
  CHECK(row(brim::make_order(v_min{}, {2, 2, 2}), 1) == "+1.0 +2.0 -2.0 -1.0 +1.1 +2.1 *2.0 *1.0 -2.1 -1.1 *2.1 *1.1");
  CHECK(row(brim::make_order(v_min{block_form::stamped}, {1, 1, 2}), 0) == "+0.0 +1.0 -1.0 -0.0 *1.0 *0.0");
}

TEST_CASE("Hanayo with one wave, in units of as many microbatches as devices") {
  const brim::order made = brim::make_order(hanayo{}, {2, 3, 2});
  CHECK(row(made, 0) == "+0.0 +0.1 +3.0 -3.0 +3.1 -3.1 -0.0 +0.2 -0.1 +3.2 -3.2 -0.2");
  CHECK(row(made, 1) == "+1.0 +2.0 +1.1 +2.1 -2.0 -1.0 -2.1 -1.1 +1.2 +2.2 -2.2 -1.2");
}

TEST_CASE("GEMS goes down and up in turn, BitPipe both ways at once") {
  const brim::order made = brim::make_order(gems{}, {2, 3});
  CHECK(row(made, 0) == "+0.0r0 -0.0r0 +1.1r1 -1.1r1 +0.2r0 -0.2r0");
  CHECK(row(made, 1) == "+1.0r0 -1.0r0 +0.1r1 -0.1r1 +1.2r0 -1.2r0");
  const brim::order both = brim::make_order(bitpipe{}, {2, 2, 2});
  CHECK(row(both, 0) == "+0.0r0 +1.1r1 +2.1r1 +3.0r0 -3.0r0 -2.1r1 -1.1r1 -0.0r0");
  CHECK(row(both, 1) == "+0.1r1 +1.0r0 +2.0r0 +3.1r1 -3.1r1 -2.0r0 -1.0r0 -0.1r1");
}

TEST_CASE("list scheduling: what is most urgent of what is there, in the slots that it takes") {
  const pipeline_shape shape{2, 2};
  const brim::placement where = brim::one_stage_a_device(shape);
  const whole_order made = list_rule<forwards_first>(shape, where, {}).run();
  std::vector<brim::action> actions;
  brim::order_sink out(actions);
  made.order(shape, device_index(1), out);
  CHECK(actions == made.rows[1]);
  REQUIRE(actions.size() == 4);
  CHECK(actions[1].kind == brim::action_kind::forward);
  CHECK(actions[2].kind == brim::action_kind::backward);
  CHECK(actions[2].microbatch.value == 0);
  CHECK(made.rows[0].size() == 4);
}

TEST_CASE("all devices at once or one by one: the same order") {
  for (int p = 1; p <= 6; ++p)
    for (const int m : {1, 2, 5, 13}) {
      const pipeline_shape shape{p, m, 2};
      CHECK(one_by_one(v_half{}, shape) == brim::make_order(v_half{}, shape));
      CHECK(one_by_one(v_min{}, shape) == brim::make_order(v_min{}, shape));
      CHECK(one_by_one(v_min{block_form::stamped}, shape) == brim::make_order(v_min{block_form::stamped}, shape));
      if (p % 2 == 0) CHECK(one_by_one(bitpipe{}, shape) == brim::make_order(bitpipe{}, shape));
    }
}

TEST_CASE("V, wave and two-way schemes name the rule that a shape breaks") {
  const auto says = [](const auto& scheme, const pipeline_shape& shape, std::string_view part) {
    const std::string_view rule = brim::refusal_of(scheme, shape);
    return part.empty() ? rule.empty() : rule.find(part) != std::string_view::npos;
  };
  for (const int chunks : {1, 3, 4}) {
    CHECK(says(zero_bubble_v{}, {4, 4, chunks}, "chunks must be 2"));
    CHECK(says(v_half{}, {4, 4, chunks}, "chunks must be 2"));
    CHECK(says(v_min{}, {4, 4, chunks}, "chunks must be 2"));
    CHECK(says(bitpipe{}, {4, 4, chunks}, "chunks must be 2"));
    CHECK(says(hanayo{}, {4, 4, chunks}, chunks % 2 == 0 ? "" : "chunks must be even"));
  }
  CHECK(says(gems{}, {4, 4, 2}, "chunks must be 1"));
  CHECK(says(gems{}, {3, 4}, "must be even"));
  CHECK(says(bitpipe{}, {3, 4, 2}, "must be even"));
  CHECK(says(gems{}, {4, 4, 1, 2}, "pairs must be 1"));
  CHECK(says(bitpipe{}, {4, 4, 2, 2}, "pairs must be 1"));
  for (const int slots : {0, -1, 9, 2147483647}) CHECK(says(bitpipe{slots}, {4, 4, 2}, "1 to 8 forwards"));
  for (const int slots : {1, 8}) CHECK(says(bitpipe{slots}, {4, 4, 2}, ""));
  for (int p = 1; p <= 9; ++p) {
    CHECK(says(zero_bubble_v{}, {p, 1, 2}, ""));
    CHECK(says(v_half{}, {p, 1, 2}, ""));
    CHECK(says(v_min{}, {p, 1, 2}, ""));
  }
}

TEST_CASE("many devices or microbatches take linear time") {
  for (const auto& [p, m] : {std::pair{1 << 14, 4}, {4, 1 << 13}}) {
    const std::size_t whole = 4u * static_cast<std::size_t>(p) * static_cast<std::size_t>(m);
    CHECK(brim::make_order(v_half{}, {p, m, 2}).actions.size() == whole * 3 / 2);
    CHECK(brim::make_order(v_min{}, {p, m, 2}).actions.size() == whole * 3 / 2);
    CHECK(brim::make_order(v_min{block_form::stamped}, {p, m, 2}).actions.size() == whole * 3 / 2);
    CHECK(brim::make_order(zero_bubble_v{}, {p, m, 2}).actions.size() == whole * 3 / 2);
    CHECK(brim::make_order(hanayo{}, {p, m, 2}).actions.size() == whole);
    CHECK(brim::make_order(bitpipe{}, {p, m, 2}).actions.size() == whole);
    CHECK(brim::make_order(gems{}, {p, m}).actions.size() == whole / 2);
  }
}

#if BRIM_HAS_EXCEPTIONS
TEST_CASE("a refused V names its rule") {
  const brim::error e = test_support::error_of([] { static_cast<void>(brim::make_order(v_half{}, {4, 4})); });
  CHECK(test_support::says(e, brim::error_code::refused_shape, "v-half: ", "chunks must be 2", "chunks=1"));
}
#endif
