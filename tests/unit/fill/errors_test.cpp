// SPDX-License-Identifier: Apache-2.0
#include "fill_judge.hpp"
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/fill/stream.hpp>

#include <errors.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace fill_samples;

std::vector<std::string> nothing() { return {}; }

brim::timeline two_devices(const brim::profile& p) {
  return brim::simulate(brim::schemes::gpipe{}, {.devices = 2, .microbatches = 1}, p);
}

#if BRIM_HAS_EXCEPTIONS
struct idle {
  static constexpr std::string_view name = "idle";
  brim::refresh_discipline discipline = brim::refresh_discipline::staggered;
  [[nodiscard]] std::ptrdiff_t choose(const brim::bubble&, std::span<const brim::ready_work>) const { return -1; }
};
#endif

}  // namespace

TEST_CASE("layers without statistics, without refreshes, with one side, without anything") {
  const auto fill_layers = [](std::vector<brim::layer_profile> layers) {
    const brim::kfac_work work{profile_of(std::move(layers))};
    const brim::timeline pipeline = two_devices(work.profile);
    const brim::filled filled = brim::fill(pipeline, work);
    CHECK(test_support::complaints_about(filled, pipeline, work) == nothing());
    return filled;
  };
  const brim::filled no_statistics = fill_layers({layer("refresh only", 0, 50)});
  CHECK(no_statistics.report.load ==
        doctest::Approx((50 + 50 + 1 + 1) / 300.0));  // an unmeasured statistic takes a tick
  const brim::filled nothing_at_all = fill_layers({layer("empty", 0, 0)});
  CHECK(nothing_at_all.work.empty());
  CHECK(nothing_at_all.report.load == 0);
  CHECK(nothing_at_all.report.utilization == nothing_at_all.report.utilization_before);
  const brim::filled no_refreshes = fill_layers({layer("precondition only", 0, 0, 30)});
  CHECK(no_refreshes.report.refresh_interval == 0);
  CHECK(no_refreshes.report.greatest_age == 0);
  CHECK(no_refreshes.report.overhead == doctest::Approx(0.05));
  brim::layer_profile one_sided = layer("input side only", 10, 40);
  one_sided.statistic_b = one_sided.refresh_b = 0;
  CHECK(fill_layers({one_sided}).report.load == doctest::Approx(50 / 300.0));
}

TEST_CASE("a limit that can be kept is kept") {
  const brim::kfac_work work = twin_work();
  const brim::timeline pipeline = twin_pipeline();
  const brim::filled free = brim::fill(pipeline, work);
  bool tighter = false;
  for (brim::bytes limit = free.report.kept; limit >= 0; limit -= 10) {
#if BRIM_HAS_EXCEPTIONS
    try {
#endif
      const brim::filled filled =
          brim::fill(pipeline, work, brim::fills::oldest_longest{}, {.kept_limits = {limit, limit, limit, limit}});
      CHECK(filled.report.kept <= limit);
      CHECK(test_support::complaints_about(filled, pipeline, work) == nothing());
      tighter = tighter || limit < free.report.kept;
#if BRIM_HAS_EXCEPTIONS
    } catch (const brim::error& e) {
      CHECK(e.code() == brim::error_code::over_memory);
      break;
    }
#else
    if (tighter) break;  // what cannot be kept would end the program
#endif
  }
  CHECK(free.report.kept > 0);
  CHECK(tighter);
}

#if BRIM_HAS_EXCEPTIONS

using brim::error_code;
using test_support::error_of;
using test_support::says;

TEST_CASE("a piece that fits nowhere is named, with its length and the longest bubble") {
  brim::kfac_work work{profile_of({layer("small", 1, 1), layer("block.mlp", 30, 900)})};
  const brim::timeline pipeline = two_devices(work.profile);
  const brim::error e = error_of([&] {
    static_cast<void>(brim::fill(pipeline, work, brim::fills::oldest_longest{},
                                 {.panels = brim::panel_rule::never, .kept_limits = {}}));
  });
  CHECK(says(e, error_code::item_too_long, "refresh a of block.mlp", "stage 0, layer 1, device 0", "takes 900 ticks",
             "needs 945", "longest bubble of the device is 300 ticks"));
  CHECK(e.site() == brim::error_site{.device = 0, .stage = 0, .layer = 1});
  CHECK(test_support::complaints_about(brim::fill(pipeline, work), pipeline, work) ==
        nothing());  // with panels it is done
}

TEST_CASE("a piece that fits only without its margin is refused") {
  brim::kfac_work work{profile_of({layer("exact", 30, 200)})};
  const brim::timeline pipeline = two_devices(work.profile);
  const auto run = [&](brim::ticks margin) {
    return brim::fill(pipeline, work, brim::fills::oldest_longest{},
                      {.margin_permille = margin, .panels = brim::panel_rule::never, .kept_limits = {}});
  };
  CHECK(says(error_of([&] { static_cast<void>(run(5)); }), error_code::item_too_long, "takes 200 ticks", "needs 201"));
  CHECK(test_support::complaints_about(run(0), pipeline, work, 0) == nothing());
}

TEST_CASE("one device has no bubbles") {
  const brim::kfac_work work{profile_of({layer("only", 30, 50)})};
  const brim::timeline pipeline =
      brim::simulate(brim::schemes::gpipe{}, {.devices = 1, .microbatches = 4}, work.profile);
  CHECK(says(error_of([&] { static_cast<void>(brim::fill(pipeline, work)); }), error_code::item_too_long, "device 0",
             "longest bubble of the device is 0 ticks"));
}

TEST_CASE("memory that cannot be kept is refused with device, need and limit") {
  const brim::kfac_work work = twin_work();
  const brim::timeline pipeline = twin_pipeline();
  const brim::error e = error_of([&] {
    static_cast<void>(brim::fill(pipeline, work, brim::fills::oldest_longest{},
                                 {.kept_limits = {1'000'000, 1, 1'000'000, 1'000'000}}));
  });
  CHECK(says(e, error_code::over_memory, "device 1 would keep", "has 1 bytes left"));
  CHECK(e.site().device == 1);
}

TEST_CASE("requests that make no sense are refused by name") {
  const brim::timeline pipeline = twin_pipeline();
  const auto refused = [&](const brim::kfac_work& work, const brim::fill_options& options, error_code code,
                           std::string_view words) {
    return says(
        error_of([&] { static_cast<void>(brim::fill(pipeline, work, brim::fills::oldest_longest{}, options)); }), code,
        words);
  };
  const auto with = [](auto change) {
    brim::kfac_work work = twin_work();
    change(work);
    return work;
  };
  const brim::kfac_work good = twin_work();
  CHECK(refused(with([](auto& w) { w.replicas = 0; }), {}, error_code::bad_profile, "replicas is 0"));
  CHECK(refused(with([](auto& w) { w.replicas = 4097; }), {}, error_code::bad_profile, "replicas is 4097"));
  CHECK(refused(with([](auto& w) { w.sync_statistic = -1; }), {}, error_code::bad_profile, "sync_statistic is -1"));
  CHECK(refused(with([](auto& w) { w.profile.stages.front().layers.clear(); }), {}, error_code::bad_profile,
                "lists no layers"));
  CHECK(refused(with([](auto& w) { w.profile.stages.front().layers.front().refresh_a = -5; }), {},
                error_code::bad_profile, "refresh.a is -5"));
  CHECK(refused(with([](auto& w) { w.profile.stages.front().layers.back().refresh_b = 0; }), {},
                error_code::bad_profile,
                "stage 0, layer 1 (large): statistic.b is 24 ticks and refresh.b is 0, so nothing would use it"));
  CHECK(refused(with([](auto& w) { w.profile.stages.resize(3); }), {}, error_code::bad_profile, "lists 3 stages"));
  CHECK(refused(good, {.margin_permille = -1, .kept_limits = {}}, error_code::no_fill, "margin_permille is -1"));
  CHECK(refused(good, {.margin_permille = 10'001, .kept_limits = {}}, error_code::no_fill, "margin_permille is 10001"));
  CHECK(refused(good, {.longest_panel = 0, .kept_limits = {}}, error_code::no_fill, "longest_panel is 0"));
  CHECK(refused(good, {.longest_cycle = -1, .kept_limits = {}}, error_code::no_fill, "longest_cycle is -1"));
  CHECK(refused(good, {.longest_cycle = 4'097, .kept_limits = {}}, error_code::no_fill, "longest_cycle is 4097"));
  CHECK(refused(good, {.tolerance = -0.1, .kept_limits = {}}, error_code::no_fill, "tolerance is out of range"));
  CHECK(refused(good, {.kept_limits = {1, 2}}, error_code::no_fill, "kept_limits has 2 entries"));
  CHECK(says(error_of([&] {
               brim::fill_stream stream(pipeline, good, brim::fills::oldest_longest{},
                                        {.fill = {}, .warm_up_steps = 0});
             }),
             error_code::no_fill, "stream_options"));
}

TEST_CASE("a limit on the table is a limit") {
  const brim::kfac_work work = twin_work();
  const brim::timeline pipeline = twin_pipeline();
  const auto with = [&](std::int32_t steps) {
    return brim::fill(pipeline, work, brim::fills::oldest_longest{}, {.longest_cycle = steps, .kept_limits = {}});
  };
  const std::int32_t free = with(0).cycle_length;
  REQUIRE(free > 1);
  CHECK(with(free).cycle_length == free);
  CHECK(says(error_of([&] {
               static_cast<void>(brim::fill(pipeline,
                                            [&] {
                                              brim::kfac_work more = work;
                                              for (auto& l : more.profile.stages[0].layers) l.refresh_a *= 20;
                                              return more;
                                            }(),
                                            brim::fills::oldest_longest{}, {.longest_cycle = 1, .kept_limits = {}}));
             }),
             error_code::no_fill, "no repeating table of at most 1 steps"));
}

TEST_CASE("a policy that leaves every bubble empty is told so") {
  CHECK(says(error_of([] { static_cast<void>(brim::fill(twin_pipeline(), twin_work(), idle{})); }), error_code::no_fill,
             "no repeating table"));
  CHECK(says(error_of([] {
               static_cast<void>(brim::fill(twin_pipeline(), twin_work(), idle{brim::refresh_discipline::one_shot}));
             }),
             error_code::no_fill, "more than 4096 steps"));
}

#endif
