// SPDX-License-Identifier: Apache-2.0
#include "data.hpp"
#include "fill_judge.hpp"

#include <doctest/doctest.h>
#include <brim/fill/fill.hpp>
#include <brim/schedule/simulate.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

// The timelines on which the published PipeFisher scheduler was run, filled by brim and compared device by device.
// docs/design/fill.md lists the cases in which the published figure cannot be a bar, and why.

namespace {

using namespace test_support;
using brim::ticks;

struct reference_case {
  std::string name;
  std::string scheme;
  brim::pipeline_shape shape;
  brim::kfac_work work;
};

brim::layer_profile layer(const char* name, ticks statistic_a, ticks statistic_b, ticks refresh_a, ticks refresh_b) {
  brim::layer_profile l;
  l.name = name;
  l.statistic_a = statistic_a;
  l.statistic_b = statistic_b;
  l.refresh_a = refresh_a;
  l.refresh_b = refresh_b;
  return l;
}

/// Every replica refreshes all layers of its stages, and each side by itself, as the published scheduler was told.
brim::kfac_work undivided(brim::profile profile) {
  return {.profile = std::move(profile),
          .replicas = 1,
          .sharing = brim::refresh_sharing::repeated,
          .damping = brim::damping_split::independent};
}

/// One linear layer a stage, or two with a sum of 1000 ns over two replicas after each statistic.
reference_case tiny(const std::string& scheme, bool two_layers) {
  brim::stage_profile stage;
  stage.cost = {.forward = 10'000, .backward = 20'000};
  stage.layers = two_layers
                     ? std::vector{layer("fc1", 2'000, 6'000, 9'000, 31'000), layer("fc2", 6'000, 2'000, 31'000, 9'000)}
                     : std::vector{layer("fc", 3'000, 3'000, 8'000, 8'000)};
  brim::profile profile;
  profile.stages = {stage};
  brim::kfac_work work = undivided(profile);
  if (two_layers) {
    work.sync_statistic = 1'000;
    work.replicas = scheme == "chimera" ? 1 : 2;
  }
  return {(two_layers ? "tiny2_" : "tiny_") + scheme + "_d4_n4", scheme, {.devices = 4, .microbatches = 4}, work};
}

/// Three blocks a stage; a block's statistics are split over its 12 matrices by d^2, its refreshes by d^3. A head adds time
/// to the last stage, and makes transfers cost 5 ms.
reference_case bert(const std::string& model, const std::string& scheme, int devices, ticks head) {
  record block;
  for (const record& row : read_csv("block_times.csv"))
    if (row.at("model") == model && row.at("gpu") == "p100" && row.at("b_micro") == "32") block = row;
  const auto ns = [&](const char* column, double share) {
    return static_cast<ticks>(std::llround(std::stod(block.at(column)) * 1e6 * share));
  };
  const ticks s1 = ns("statistics", 1.0 / 42), s4 = ns("statistics", 16.0 / 42), r1 = ns("refresh", 1.0 / 138),
              r4 = ns("refresh", 64.0 / 138);
  brim::stage_profile stage;
  stage.cost = {.forward = ns("forward", 3), .backward = ns("backward", 3)};
  for (int b = 0; b < 3; ++b) {
    for (const char* name : {"query", "key", "value", "output"}) stage.layers.push_back(layer(name, s1, s1, r1, r1));
    stage.layers.push_back(layer("up", s1, s4, r1, r4));
    stage.layers.push_back(layer("down", s4, s1, r4, r1));
  }
  brim::profile profile;
  profile.stages.assign(static_cast<std::size_t>(devices), stage);
  if (head > 0) {
    profile.stages.back().cost.forward += head;
    profile.stages.back().cost.backward += 2 * head;
    profile.links.p2p = {5'000'000};
  }
  const std::string n = std::to_string(devices);
  return {"bert_" + model.substr(5) + "_p100_b32_" + (head > 0 ? "head_" : "") + scheme + "_d" + n + "_n" + n,
          scheme,
          {.devices = devices, .microbatches = devices},
          undivided(profile)};
}

std::vector<reference_case> all_cases() {
  std::vector<reference_case> out;
  for (const bool two : {false, true})
    for (const char* scheme : {"gpipe", "1f1b", "chimera"}) out.push_back(tiny(scheme, two));
  for (const ticks head : {0, 32'000'000}) {
    for (const char* scheme : {"gpipe", "1f1b", "chimera"}) out.push_back(bert("bert-base", scheme, 4, head));
    out.push_back(bert("bert-large", "chimera", 8, head == 0 ? 0 : 40'000'000));
  }
  return out;
}

brim::timeline timeline_of(const reference_case& c) {
  return with_scheme(c.scheme, [&](const auto& scheme) { return brim::simulate(scheme, c.shape, c.work.profile); });
}

/// What one device of the published scheduler reached, and what a correct fill has to reach.
struct bar {
  double cycle;
  double usage;  ///< percent
};

/// Four refreshes of 31 us stand after the end of the last of five steps in this case: they fit no gap, so the published
/// figure counts time that the steps do not have. What counts is what it placed inside, and the refreshes of one cycle are
/// more than five steps can hold: 5.6 times the bubbles of one.
bar bar_of(const record& published, const brim::device_report& ours) {
  bar out{std::stod(published.at("cycle_length")), std::stod(published.at("usage"))};
  if (std::stoi(published.at("past_end")) == 0) return out;
  constexpr double outside = 100.0 * 4 * 31'000 / (5 * 160'000);
  CHECK(published.at("case") == "tiny2_chimera_d4_n4");
  CHECK(ours.load > out.cycle);
  return {std::ceil(ours.load), out.usage - outside};
}

}  // namespace

TEST_CASE("the timelines are those that the published scheduler was given") {
  std::map<std::string, std::map<std::tuple<int, std::string, int>, std::vector<ticks>>> given;
  for (const record& row : read_csv("fill_timelines.csv"))
    given[row.at("case")][{std::stoi(row.at("device")), row.at("action"), std::stoi(row.at("route"))}].push_back(
        std::stoll(row.at("start")));
  CHECK(given.size() == 6);
  for (const reference_case& c : all_cases()) {
    const auto found = given.find(c.name);
    if (found == given.end()) continue;
    CAPTURE(c.name);
    const brim::timeline t = timeline_of(c);
    std::map<std::tuple<int, std::string, int>, std::vector<ticks>> ours;
    for (const brim::device_index d : brim::devices(c.shape))
      for (std::size_t i = t.program.offsets[d.at()]; i < t.program.offsets[d.at() + 1]; ++i) {
        const brim::action& a = t.program.actions[i];
        ours[{d.value, std::string(brim::name_of(a.kind)), a.route.value}].push_back(t.times[i].start);
      }
    CHECK(ours == found->second);
  }
}

TEST_CASE(
    "no device refreshes later or works less than under the published scheduler, and nothing is premature or mixed") {
  std::map<std::string, std::vector<record>> published;
  for (const record& row : read_csv("fill_reference.csv")) published[row.at("case")].push_back(row);
  CHECK(published.size() == 14);
  std::size_t seen = 0;
  for (const reference_case& c : all_cases()) {
    ++seen;
    CAPTURE(c.name);
    const brim::timeline t = timeline_of(c);
    const brim::filled filled = brim::fill(t, c.work);
    CHECK(complaints_about(filled, t, c.work) == std::vector<std::string>{});
    const std::vector<record>& theirs = published.at(c.name);
    REQUIRE(theirs.size() == static_cast<std::size_t>(c.shape.devices));
    for (std::size_t lane = 0; lane < filled.report.devices.size(); ++lane) {
      CAPTURE(lane);
      const brim::device_report& ours = filled.report.devices[lane];
      const bar wanted = bar_of(theirs[lane % theirs.size()], ours);
      CHECK(ours.precondition == 0);
      CHECK(ours.refresh_interval <= wanted.cycle + 1e-9);
      CHECK(100 * ours.utilization >= wanted.usage - 0.005);  // two digits were published
    }
  }
  CHECK(seen == published.size());
}

TEST_CASE("devices that share no layer have tables of their own lengths") {
  const reference_case c = bert("bert-base", "chimera", 4, 32'000'000);
  const brim::filled filled = brim::fill(timeline_of(c), c.work);
  CHECK(filled.cycle_length == 21);                                        // 7 and 3
  CHECK(filled.report.devices[0].refresh_interval == doctest::Approx(7));  // published: 9
  CHECK(filled.report.devices[1].refresh_interval == doctest::Approx(3));  // published: 3
}
