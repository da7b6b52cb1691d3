// SPDX-License-Identifier: Apache-2.0
#include "data.hpp"
#include "fill_judge.hpp"

#include <doctest/doctest.h>
#include <brim/fill/fill.hpp>
#include <brim/io/read_profile.hpp>
#include <brim/schedule/simulate.hpp>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

// What brim promises on the shipped profiles: how full, how fresh, how much memory.

namespace {

using namespace test_support;

brim::timeline timeline_of(const std::string& scheme, const brim::profile& profile, int devices) {
  return with_scheme(
      scheme, [&](const auto& s) { return brim::simulate(s, {.devices = devices, .microbatches = devices}, profile); });
}

}  // namespace

TEST_CASE(
    "BERT-Large with its head, transfers set so that the baseline is the published 59.8 %, is filled to 99 % and "
    "more") {
  const brim::profile profile = brim::io::read_profile(source_dir() / "examples/profiles/bert-large-p100-head.json");
  REQUIRE(profile.links.p2p == std::vector<brim::ticks>{2'000'000});
  const brim::timeline pipeline = timeline_of("chimera", profile, 8);
  const brim::kfac_work work{profile};
  const brim::filled filled = brim::fill(pipeline, work);
  CHECK(complaints_about(filled, pipeline, work) == std::vector<std::string>{});
  CHECK(std::abs(100 * filled.report.utilization_before - 59.8) <= 0.1);
  CHECK(100 * filled.report.utilization >= 99.0);
  const brim::filled whole =
      brim::fill(pipeline, work, brim::fills::oldest_longest{}, {.panels = brim::panel_rule::never, .kept_limits = {}});
  CHECK(100 * whole.report.utilization >= 99.0);  // also where no inversion may be cut
}

TEST_CASE("every published profile is filled to 0.6 points of its bound, with low ages, in one-shot memory") {
  int cases = 0;
  for (const auto& file : std::filesystem::directory_iterator(source_dir() / "examples/profiles")) {
    if (file.path().extension() != ".json" || file.path().stem() == "sample") continue;  // that one is invented
    const brim::profile profile = brim::io::read_profile(file.path());
    const std::string name = file.path().stem().string();
    const int devices = profile.stages.size() > 1                ? static_cast<int>(profile.stages.size())
                        : name.find("base") != std::string::npos ? 4
                                                                 : 8;
    for (const char* scheme : {"gpipe", "1f1b", "chimera"}) {
      CAPTURE(name);
      CAPTURE(scheme);
      ++cases;
      const brim::timeline pipeline = timeline_of(scheme, profile, devices);
      const brim::kfac_work work{profile};
      const brim::filled filled = brim::fill(pipeline, work);
      const brim::filled at_once = brim::fill(pipeline, work, brim::fills::pipefisher_rule{});
      CHECK(complaints_about(filled, pipeline, work) == std::vector<std::string>{});
      CHECK(complaints_about(at_once, pipeline, work) == std::vector<std::string>{});
      CHECK(100 * (filled.report.bound - filled.report.utilization) <= 0.6);
      CHECK(filled.report.greatest_age <= std::ceil(filled.report.load) + 2);
      CHECK(filled.report.kept <= at_once.report.kept);
    }
  }
  CHECK(cases >= 36);
}
