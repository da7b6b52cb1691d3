// SPDX-License-Identifier: Apache-2.0
#include "data.hpp"
#include "errors.hpp"

#include <doctest/doctest.h>
#include <brim/core/text.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>
#include <brim/scheme/slot_rule.hpp>

#include <string>
#include <vector>

namespace {
using brim::device_index;
using brim::pipeline_shape;

/// `"+0.1"`: forward of microbatch 1 on stage 0; with several routes `"+0.1r2"`.
std::string row(const brim::order& made, int device) {
  std::string out;
  for (const brim::action& a : made.row(device_index(device))) {
    out += brim::detail::text(out.empty() ? "" : " ", a.kind == brim::action_kind::forward ? '+' : '-', a.stage.value,
                              '.', a.microbatch.value);
    if (made.where.routes > 1) out += brim::detail::text('r', a.route.value);
  }
  return out;
}

struct by_slots {
  static constexpr std::string_view name = "1f1b";
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    const std::vector<brim::schemes::slot_rule::held> own{{brim::route_index(0), brim::stage_of(device)}};
    brim::schemes::slot_rule{.unit = shape.microbatches, .stages = shape.devices}.order(shape, own, out);
  }
};

}  // namespace

TEST_CASE("GPipe") {
  const brim::order made = brim::make_order(brim::schemes::gpipe{}, {2, 3});
  CHECK(made.scheme == "gpipe");
  CHECK(row(made, 0) == "+0.0 +0.1 +0.2 -0.0 -0.1 -0.2");
  CHECK(row(made, 1) == "+1.0 +1.1 +1.2 -1.0 -1.1 -1.2");
}

TEST_CASE("1F1B, also with fewer microbatches than devices") {
  const brim::order made = brim::make_order(brim::schemes::one_f_one_b{}, {3, 4});
  CHECK(row(made, 0) == "+0.0 +0.1 +0.2 -0.0 +0.3 -0.1 -0.2 -0.3");
  CHECK(row(made, 1) == "+1.0 +1.1 -1.0 +1.2 -1.1 +1.3 -1.2 -1.3");
  CHECK(row(made, 2) == "+2.0 -2.0 +2.1 -2.1 +2.2 -2.2 +2.3 -2.3");
  const brim::order few = brim::make_order(brim::schemes::one_f_one_b{}, {4, 2});
  CHECK(row(few, 0) == "+0.0 +0.1 -0.0 -0.1");
  CHECK(row(few, 2) == "+2.0 +2.1 -2.0 -2.1");
  CHECK(row(few, 3) == "+3.0 -3.0 +3.1 -3.1");
}

TEST_CASE("interleaved 1F1B with groups of unequal size, which PyTorch and Megatron refuse") {
  const brim::order made = brim::make_order(brim::schemes::interleaved_one_f_one_b{}, {2, 5, 2});  // groups of 3 and 2
  CHECK(row(made, 1) ==
        "+1.0 +1.1 +1.2 +3.0 -3.0 +3.1 -3.1 +3.2 -3.2 +1.3 -1.0 +1.4 -1.1 +3.3 -1.2 +3.4 -3.3 -3.4 -1.3 -1.4");
  CHECK(row(brim::make_order(brim::schemes::interleaved_one_f_one_b{}, {1, 1, 3}), 0) ==
        "+0.0 +1.0 +2.0 -2.0 -1.0 -0.0");
}

TEST_CASE("breadth-first takes the microbatches of a chunk back in reverse") {
  CHECK(row(brim::make_order(brim::schemes::looped_bfs{}, {2, 2, 2}), 0) == "+0.0 +0.1 +2.0 +2.1 -2.1 -2.0 -0.1 -0.0");
}

TEST_CASE("Chimera: routes alternate, an odd microbatch goes up") {
  const brim::order made = brim::make_order(brim::schemes::chimera{}, {2, 3});
  CHECK(row(made, 0) == "+0.0r0 +1.1r1 -1.1r1 -0.0r0 +0.2r0 -0.2r0");
  CHECK(row(made, 1) == "+0.1r1 +1.0r0 -1.0r0 -0.1r1 +1.2r0 -1.2r0");
  CHECK(made.where.routes == 2);
}

TEST_CASE("the slot rule with one route is 1F1B") {
  for (int p = 1; p <= 6; ++p)
    for (int m = 1; m <= 9; ++m)
      CHECK(brim::make_order(by_slots{}, {p, m}) == brim::make_order(brim::schemes::one_f_one_b{}, {p, m}));
}

TEST_CASE("the sink keeps what it is given") {
  std::vector<brim::action> actions;
  brim::order_sink out(actions);
  out.backward_input(brim::stage_index(1), brim::microbatch_index(2), brim::route_index(3));
  out.backward_weight(brim::stage_index(4), brim::microbatch_index(5));
  REQUIRE(actions.size() == 2);
  CHECK(actions[0].kind == brim::action_kind::backward_input);
  CHECK(actions[0].route.value == 3);
  CHECK(actions[1].kind == brim::action_kind::backward_weight);
  CHECK(actions[1].stage.value == 4);
  CHECK(actions[1].microbatch.value == 5);
  CHECK(actions[1].layer.value == -1);
}

TEST_CASE("an order made in used arrays is the same order") {
  brim::order reused = brim::make_order(brim::schemes::chimera{}, {4, 8});
  const auto* before = reused.actions.data();
  brim::make_order_into(reused, brim::schemes::gpipe{}, {2, 3});
  CHECK(reused == brim::make_order(brim::schemes::gpipe{}, {2, 3}));
  CHECK(reused.actions.data() == before);
}

TEST_CASE("which shapes are refused") {
  CHECK(brim::refusal_of(brim::schemes::gpipe{}, {2, 2, 2}) == "a device holds one stage, so chunks must be 1");
  CHECK(brim::refusal_of(brim::schemes::one_f_one_b{}, {2, 2, 2}).find("interleaved-1f1b") != std::string_view::npos);
  CHECK(brim::refusal_of(brim::schemes::chimera{}, {2, 2, 2}).find("chunks must be 1") != std::string_view::npos);
  for (const char* name : {"gpipe", "1f1b", "interleaved-1f1b", "looped-bfs"})
    test_support::with_scheme(name, [&](const auto& s) {
      CHECK(brim::refusal_of(s, {1, 1}).empty());
      CHECK(brim::refusal_of(s, {7, 3}).empty());
    });
  for (int p = 1; p <= 12; ++p)
    for (int q = 1; q <= p; ++q)
      CHECK(brim::refusal_of(brim::schemes::chimera{}, {.devices = p, .microbatches = 5, .pairs = q}).empty() ==
            (p % (2 * q) == 0));
}

TEST_CASE("many devices and pairs take linear time") {
  const brim::order made = brim::make_order(brim::schemes::chimera{}, {.devices = 1 << 16, .microbatches = 8});
  CHECK(made.actions.size() == 16u << 16);
  const brim::order pairs =
      brim::make_order(brim::schemes::chimera{}, {.devices = 1 << 10, .microbatches = 2, .pairs = 1 << 9});
  CHECK(pairs.where.holders.size() == 1u << 20);
}

TEST_CASE("asking for a refusal is safe for shapes without sense") {
  for (const int pairs : {0, -1, 1 << 30, 2147483647, -2147483647 - 1})
    CHECK_FALSE(brim::refusal_of(brim::schemes::chimera{}, {.devices = 4, .microbatches = 1, .pairs = pairs}).empty());
}

#if BRIM_HAS_EXCEPTIONS
using test_support::error_of;
using test_support::says;

TEST_CASE("a refused shape is named with its rule") {
  const brim::error odd = error_of([] { static_cast<void>(brim::make_order(brim::schemes::chimera{}, {5, 5})); });
  CHECK(says(odd, brim::error_code::refused_shape, "chimera: ", "multiple of twice the number of pairs", "devices=5"));
  const brim::error chunks = error_of([] { static_cast<void>(brim::make_order(brim::schemes::gpipe{}, {4, 4, 2})); });
  CHECK(says(chunks, brim::error_code::refused_shape, "gpipe: ", "chunks must be 1", "chunks=2"));
}

TEST_CASE("a shape without sense stops before the scheme sees it, and before memory is taken") {
  for (const char* name : {"gpipe", "1f1b", "interleaved-1f1b", "looped-bfs", "chimera"})
    for (const pipeline_shape& shape :
         {pipeline_shape{0, 4}, pipeline_shape{4, 0}, pipeline_shape{4, 1'000'000'000}, pipeline_shape{2147483647, 1},
          pipeline_shape{2147483647, 2147483647, 2147483647, 2147483647}, pipeline_shape{-4, 4},
          pipeline_shape{4, 4, 0}, pipeline_shape{4, 4, 1, 0}, pipeline_shape{2, 2, 1, 1073741824}})
      test_support::with_scheme(name, [&](const auto& s) {
        const brim::error e = error_of([&] { static_cast<void>(brim::make_order(s, shape)); });
        CHECK(says(e, brim::error_code::bad_shape, brim::to_string(shape)));
      });
}
#endif

TEST_CASE("seq-1f1b takes the slices of a sequence forward in order and back in reverse") {
  const brim::order made = brim::make_order(brim::schemes::seq_one_f_one_b{}, {2, 4});
  CHECK(row(made, 0) == "+0.0 +0.1 +0.2 -0.1 +0.3 -0.0 -0.3 -0.2");
  CHECK(row(made, 1) == "+1.0 +1.1 -1.1 +1.2 -1.0 +1.3 -1.3 -1.2");
  CHECK(brim::refusal_of(brim::schemes::seq_one_f_one_b{}, {2, 3}).find("multiple of the slices") !=
        std::string_view::npos);
  CHECK(brim::refusal_of(brim::schemes::seq_one_f_one_b{.slices = 3}, {2, 3}).empty());
  CHECK(brim::make_order(brim::schemes::seq_one_f_one_b{.slices = 1}, {3, 5}).actions ==
        brim::make_order(brim::schemes::one_f_one_b{}, {3, 5}).actions);
}

TEST_CASE("groups of at least half the devices never deadlock, smaller ones are refused") {
  for (int p = 1; p <= 9; ++p)
    for (int v = 1; v <= 3; ++v)
      for (int m = 1; m <= 20; ++m)
        for (int group = 1; group <= m; ++group) {
          const pipeline_shape shape{.devices = p, .microbatches = m, .chunks = v};
          const brim::schemes::grouped_interleave scheme{.group = group};
          CHECK(brim::refusal_of(scheme, shape).empty() == (v == 1 || 2 * group >= p));
          if (brim::refusal_of(scheme, shape).empty())
            CHECK(brim::simulate(scheme, shape, brim::uniform_cost{}).times.size() ==
                  3 * static_cast<std::size_t>(p * v * m));
        }
  CHECK_FALSE(brim::refusal_of(brim::schemes::grouped_interleave{.group = -1}, {4, 4, 2}).empty());
}

TEST_CASE("with one chunk interleaved zero bubble is ZB-H1") {
  for (int p = 1; p <= 5; ++p)
    for (int m = 1; m <= 9; ++m)
      CHECK(brim::make_order(brim::schemes::interleaved_zero_bubble{}, {p, m}).actions ==
            brim::make_order(brim::schemes::zero_bubble_h1{}, {p, m}).actions);
}
