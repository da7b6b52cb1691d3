// SPDX-License-Identifier: Apache-2.0
#include "any_shape.hpp"
#include "data.hpp"
#include "fill_judge.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <brim/fill/fill.hpp>
#include <brim/fill/stream.hpp>
#include <brim/schedule/simulate.hpp>

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

// Any pipeline, any work, any policy: the judge of fill_judge.hpp has nothing to say, or the fill says why it refuses.
// A failing run prints the seed and the smallest input; RC_PARAMS="seed=..." repeats it.

namespace {

using brim::ticks;

struct request {
  std::string scheme;
  brim::pipeline_shape shape;
  brim::kfac_work work;
  brim::fill_options options;
  std::string policy;
};

void show(const request& r, std::ostream& out) {
  const auto pair = [&](const char* name, auto a, auto b) { out << ' ' << name << ' ' << a << '/' << b; };
  out << r.scheme << ' ' << brim::to_string(r.shape) << ' ' << r.policy << " replicas " << r.work.replicas << " sync "
      << r.work.sync_statistic << (r.work.sharing == brim::refresh_sharing::divided ? " divided" : " repeated")
      << (r.work.damping == brim::damping_split::pi ? " pi" : " independent") << " margin " << r.options.margin_permille
      << " panels " << static_cast<int>(r.options.panels) << '/' << r.options.longest_panel << " cycle "
      << r.options.longest_cycle << " tolerance " << r.options.tolerance;
  for (const brim::bytes limit : r.options.kept_limits) out << " limit " << limit;
  for (const brim::stage_profile& s : r.work.profile.stages) {
    pair("\n  stage", s.cost.forward, s.cost.backward);
    out << " update " << s.cost.optimizer_step;
    for (const brim::layer_profile& l : s.layers) {
      pair("| statistic", l.statistic_a, l.statistic_b);
      pair("refresh", l.refresh_a, l.refresh_b);
      pair("saved", l.saved_inputs, l.saved_errors);
      out << " precondition " << l.precondition;
    }
  }
  out << "\n  latency " << r.work.profile.links.latency;
  for (const ticks t : r.work.profile.links.p2p) out << " p2p " << t;
  for (const brim::device_profile& d : r.work.profile.devices) out << " speed " << d.speed;
}
[[maybe_unused]] std::ostream& operator<<(std::ostream& out, const request& r) {
  show(r, out);
  return out;
}

ticks up_to(ticks most) { return *rc::gen::inRange<ticks>(0, most + 1); }

/// Most layers have everything; some have a side or its statistics missing, or nothing at all.
brim::layer_profile any_layer(ticks unit) {
  const auto sometimes = [](ticks value) { return *rc::gen::inRange(0, 8) == 0 ? 0 : value; };
  brim::layer_profile l;
  l.statistic_a = sometimes(up_to(unit));
  l.statistic_b = sometimes(up_to(unit));
  l.refresh_a = sometimes(up_to(8 * unit));
  l.refresh_b = sometimes(up_to(8 * unit));
  l.precondition = sometimes(up_to(unit));
  l.saved_inputs = sometimes(up_to(100));
  l.saved_errors = sometimes(up_to(100));
  if (l.refresh_a == 0) l.statistic_a = 0;  // statistics that nothing uses are refused
  if (l.refresh_b == 0) l.statistic_b = 0;
  return l;
}

request any_request() {
  request r;
  std::vector<std::string> names = test_support::scheme_names();
  names.insert(names.end(), 3, "chimera");  // the one whose lanes share work
  r.scheme = names[*rc::gen::inRange<std::size_t>(0, names.size())];
  r.shape = test_support::any_shape(r.scheme, {.devices = 5, .microbatches = 8, .chunks = 2, .pairs = 2});
  const ticks unit = *rc::gen::element<ticks>(10, 1'000, 1'000'000);
  const bool uneven = *rc::gen::arbitrary<bool>();
  for (std::int32_t s = 0; s < (uneven ? r.shape.devices * r.shape.chunks : 1); ++s) {
    brim::stage_profile stage;
    stage.cost = {.forward = up_to(4 * unit),
                  .backward = up_to(8 * unit),
                  .optimizer_step = *rc::gen::element<ticks>(ticks{0}, ticks{0}, ticks{unit})};
    for (std::int32_t l = *rc::gen::element(0, 1, 1, 2, 3); l > 0; --l) stage.layers.push_back(any_layer(unit));
    r.work.profile.stages.push_back(stage);
  }
  r.work.profile.links.latency = *rc::gen::element<ticks>(ticks{0}, ticks{0}, unit / 2);
  if (*rc::gen::arbitrary<bool>()) r.work.profile.links.p2p = {up_to(3 * unit)};
  if (*rc::gen::inRange(0, 3) == 0)
    for (std::int32_t d = 0; d < r.shape.devices; ++d)
      r.work.profile.devices.push_back({.speed = *rc::gen::element(0.7, 1.0, 1.3)});
  r.work.replicas = *rc::gen::element(1, 1, 2, 3);
  r.work.sharing = *rc::gen::element(brim::refresh_sharing::divided, brim::refresh_sharing::repeated);
  r.work.damping = *rc::gen::element(brim::damping_split::pi, brim::damping_split::independent);
  r.work.sync_statistic = *rc::gen::element<ticks>(ticks{0}, unit / 3, 20 * unit);
  r.options.margin_permille = *rc::gen::element<ticks>(0, 50, 300);
  r.options.panels =
      *rc::gen::element(brim::panel_rule::never, brim::panel_rule::when_needed, brim::panel_rule::always);
  r.options.longest_panel = *rc::gen::element<ticks>(ticks{unit}, ticks{10'000'000});
  r.options.longest_cycle = *rc::gen::inRange(1, 9);
  r.options.tolerance = *rc::gen::element(0.0, 0.004, 0.05);
  if (*rc::gen::inRange(0, 4) == 0)
    for (std::int32_t d = 0; d < r.shape.devices; ++d) r.options.kept_limits.push_back(up_to(2'000));
  r.policy = *rc::gen::element<std::string>("oldest-longest", "earliest-deadline", "first-fit", "best-fit",
                                            "pipefisher-rule", "choosing");
  return r;
}

/// A ranked policy as one that chooses. Batches stand in memory in order of creation.
template <class Ranked>
struct choosing {
  static constexpr std::string_view name = Ranked::name;
  brim::refresh_discipline discipline = Ranked{}.discipline;

  [[nodiscard]] std::ptrdiff_t choose(const brim::bubble& where, std::span<const brim::ready_work> ready) const {
    RC_ASSERT(where.left.length() > 0);
    RC_ASSERT(std::is_sorted(ready.begin(), ready.end(),
                             [](const auto& a, const auto& b) { return a.statistics_step < b.statistics_step; }));
    const auto before = [](const brim::ready_work& a, const brim::ready_work& b) {
      if (Ranked::age == brim::age_rule::oldest_first && a.statistics_step != b.statistics_step)
        return a.statistics_step < b.statistics_step;
      if (Ranked{}.before(*a.batch, *b.batch)) return true;
      if (Ranked{}.before(*b.batch, *a.batch)) return false;
      return a.batch != b.batch ? a.batch < b.batch : a.statistics_step < b.statistics_step;
    };
    return std::min_element(ready.begin(), ready.end(), before) - ready.begin();
  }
};
static_assert(brim::fill_policy<choosing<brim::fills::best_fit>> && !brim::ranks_work<choosing<brim::fills::best_fit>>);

/// Leaves one bubble in three empty.
struct lazy {
  static constexpr std::string_view name = "lazy";
  brim::refresh_discipline discipline = brim::refresh_discipline::staggered;
  [[nodiscard]] std::ptrdiff_t choose(const brim::bubble& where, std::span<const brim::ready_work> ready) const {
    return where.left.length() % 3 == 0 ? -1 : static_cast<std::ptrdiff_t>(ready.size()) - 1;
  }
};

template <class Use>
auto with_policy(const std::string& name, Use use) {
  if (name == "oldest-longest") return use(brim::fills::oldest_longest{});
  if (name == "earliest-deadline") return use(brim::fills::earliest_deadline{});
  if (name == "first-fit") return use(brim::fills::first_fit{});
  if (name == "best-fit") return use(brim::fills::best_fit{});
  if (name == "pipefisher-rule") return use(brim::fills::pipefisher_rule{});
  return use(lazy{});
}

brim::timeline timeline_of(const request& r) {
  return test_support::with_scheme(r.scheme, [&](const auto& s) { return brim::simulate(s, r.shape, r.work.profile); });
}

bool has_layers(const request& r) {
  return std::any_of(r.work.profile.stages.begin(), r.work.profile.stages.end(),
                     [](const auto& s) { return !s.layers.empty(); });
}

/// Runs a fill; nothing where it refuses for a reason that it may have.
template <class Run>
auto allowed(const request& r, Run run) -> std::optional<decltype(run())> {
  try {
    return run();
  } catch (const brim::error& e) {
    RC_TAG(std::string(brim::name_of(e.code())));
    const bool known = e.code() == brim::error_code::item_too_long || e.code() == brim::error_code::no_fill ||
                       (e.code() == brim::error_code::over_memory && !r.options.kept_limits.empty()) ||
                       (e.code() == brim::error_code::bad_profile && !has_layers(r));
    if (!known) RC_FAIL(e.what());
    return std::nullopt;
  }
}

void expect_no_complaint(const std::vector<std::string>& complaints) {
  std::string all;
  for (const std::string& c : complaints) all += c + "\n";
  if (!all.empty()) RC_FAIL(all);
}

}  // namespace

TEST_CASE("the judge finds nothing wrong with any fill") {
  CHECK(rc::check([] {
    const request r = any_request();
    RC_LOG() << r;
    const brim::timeline t = timeline_of(r);
    const auto filled = with_policy(r.policy, [&](const auto& policy) {
      return allowed(r, [&] { return brim::fill(t, r.work, policy, r.options); });
    });
    if (!filled) return;
    RC_TAG(std::string("filled"));
    RC_ASSERT(filled->report.policy == (r.policy == "choosing" ? "lazy" : r.policy));
    expect_no_complaint(test_support::complaints_about(*filled, t, r.work, r.options.margin_permille));
    if (!r.options.kept_limits.empty() && r.policy != "pipefisher-rule")
      for (std::size_t lane = 0; lane < filled->report.devices.size(); ++lane)
        RC_ASSERT(filled->report.devices[lane].kept <= r.options.kept_limits[lane % r.options.kept_limits.size()]);
  }));
}

TEST_CASE("the same input gives the same table, and a policy that ranks the same as one that chooses") {
  CHECK(rc::check([] {
    const request r = any_request();
    RC_LOG() << r;
    const brim::timeline t = timeline_of(r);
    const auto same = [&]<class Policy>(const Policy& policy) {
      const auto first = allowed(r, [&] { return brim::fill(t, r.work, policy, r.options); });
      RC_ASSERT(first == allowed(r, [&] { return brim::fill(t, r.work, policy, r.options); }));
      if constexpr (brim::ranks_work<Policy>)
        RC_ASSERT(first == allowed(r, [&] { return brim::fill(t, r.work, choosing<Policy>{}, r.options); }));
    };
    with_policy(r.policy, same);
  }));
}

TEST_CASE("the judge finds nothing wrong with the steps of any stream, and equal streams give equal steps") {
  CHECK(rc::check([] {
    request r = any_request();
    r.options.kept_limits.clear();
    RC_LOG() << r;
    const brim::timeline t = timeline_of(r);
    // The tail and the load are those of a table that starts everything at once.
    auto steps = allowed(r, [&] {
      return brim::fill(t, r.work, brim::fills::oldest_longest{brim::refresh_discipline::one_shot}, r.options);
    });
    if (!steps || steps->report.load > 20) return;
    RC_TAG(std::string("streamed"));
    const auto load = static_cast<std::int32_t>(steps->report.load) + 1;
    r.work.sync_statistic =
        std::min(r.work.sync_statistic, steps->step_length);  // a fixed threshold waits while sums travel
    const brim::stream_options options{
        .fill = r.options, .threshold_permille = 1500, .warm_up_steps = 2, .measured_steps = 5};
    brim::fill_stream stream(t, r.work, brim::fills::oldest_longest{}, options);
    brim::fill_stream twin(t, r.work, brim::fills::oldest_longest{}, options);
    RC_ASSERT(stream.step_length() == steps->step_length);
    steps->work.clear();
    steps->cycle_length = 16 * load + 40;
    for (std::int32_t s = 0; s < steps->cycle_length; ++s) {
      const std::vector<brim::placed_work>& next = stream.next();
      RC_ASSERT(next == twin.next());
      for (const brim::placed_work& w : next) RC_ASSERT(w.step == s);
      steps->work.insert(steps->work.end(), next.begin(), next.end());
    }
    std::stable_sort(steps->work.begin(), steps->work.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.replica, a.device, a.step, a.time.start) <
             std::tuple(b.replica, b.device, b.step, b.time.start);
    });
    expect_no_complaint(
        test_support::fill_judge(*steps, t, r.work, r.options.margin_permille).judge_steps(0, 8 * load + 10));
  }));
}
