// SPDX-License-Identifier: Apache-2.0
#include "golden.hpp"
#include "samples.hpp"

#include <brim/io/read_profile.hpp>
#include <brim/io/write_profile.hpp>
#include <brim/schedule/metrics.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

brim::error failure_of(const std::string& text) {
  try {
    (void)brim::io::parse_profile(text);
  } catch (const brim::error& e) {
    return e;
  }
  return {brim::error_code::bad_shape, "it was accepted"};
}

/// A profile with one stage, whose fields are given.
std::string one_stage(const std::string& fields) {
  return R"({"format": "brim.profile/1", "stages": [{)" + fields + "}]}";
}
/// The same with more at the top level.
std::string with(const std::string& fields) {
  return R"({"format": "brim.profile/1", "stages": [{"forward": 1, "backward": 2}], )" + fields + "}";
}
std::string with_layer(const std::string& fields) {
  return one_stage(R"("forward": 1, "backward": 2, "layers": [{"name": "q"}, {)" + fields + "}]");
}

brim::stage_profile stage_of(const std::string& fields) {
  return brim::io::parse_profile(one_stage(fields)).stages.at(0);
}

struct bad {
  std::string text;
  std::string says;
};

}  // namespace

TEST_CASE("profile: the example of the documentation, every field") {
  const brim::profile p = brim::io::parse_profile(R"(
    {"format": "brim.profile/1", "name": "BERT", "source": "where", "time_unit": "us", "memory_unit": "MiB",
     "stages": [{"count": 4, "forward": 29244, "backward": 49350, "backward_input": 24670, "backward_weight": 24680, "recompute": 29000, "optimizer_step": 900,
       "memory": {"weights": 117, "activations": 792, "released_by_backward_input": 400, "released_by_backward_weight": 392},
       "layers": [{"name": "block.attention.query", "count": 3, "inputs": 768, "outputs": 3072,
          "statistic": {"a": 1200, "b": 1201}, "refresh": {"a": 3600, "b": 3601}, "precondition": 500,
          "memory": {"saved_inputs": 12, "saved_errors": 13, "factors": 4.5}}]}],
     "links": {"latency": 10, "p2p": 626}, "devices": [{"speed": 1.5, "memory": 16384}]})");
  const brim::bytes mib = 1 << 20;
  CHECK(p.name == "BERT");
  CHECK(p.source == "where");
  REQUIRE(p.stages.size() == 4);
  CHECK(p.stages[3] == p.stages[0]);
  const brim::stage_profile& s = p.stages[0];
  CHECK(s.cost == brim::stage_cost{29'244'000, 49'350'000, 24'670'000, 24'680'000, 29'000'000, 900'000});
  CHECK(s.memory == brim::stage_memory{117 * mib, 792 * mib, 400 * mib, 392 * mib});
  REQUIRE(s.layers.size() == 3);
  const brim::layer_profile layer{"block.attention.query",
                                  768,
                                  3072,
                                  1'200'000,
                                  1'201'000,
                                  3'600'000,
                                  3'601'000,
                                  500'000,
                                  12 * mib,
                                  13 * mib,
                                  9 * mib / 2};
  CHECK(s.layers[0] == layer);
  CHECK(s.layers[2] == layer);
  CHECK(p.links == brim::link_profile{10'000, {626'000}});
  CHECK(p.devices == std::vector<brim::device_profile>{{1.5, 16'384 * mib}});
}

TEST_CASE("profile: what is left out has its documented value") {
  const brim::profile p = brim::io::parse_profile(one_stage(R"("forward": 3, "backward": 7)"));
  CHECK(p.stages[0].cost ==
        brim::stage_cost{3, 7, 4, 3, 3, 0});  // nanoseconds; the halves add up; recompute is the forward
  CHECK(p.stages[0].memory == brim::stage_memory{});
  CHECK(p.stages[0].layers.empty());
  CHECK(p.links == brim::link_profile{});
  CHECK(p.devices.empty());
  CHECK(brim::io::parse_profile(with(R"("devices": [{"count": 3}])")).devices == std::vector<brim::device_profile>(3));
}

TEST_CASE("profile: the backward and its halves complete each other") {
  CHECK(stage_of(R"("forward": 1, "backward_input": 3, "backward_weight": 5)").cost.backward == 8);
  CHECK(stage_of(R"("forward": 1, "backward": 8, "backward_input": 3)").cost.backward_weight == 5);
  CHECK(stage_of(R"("forward": 1, "backward": 8, "backward_weight": 3)").cost.backward_input == 5);
  const brim::stage_cost fused =
      stage_of(R"("forward": 1, "backward": 7, "backward_input": 3, "backward_weight": 5)").cost;
  CHECK(fused.backward == 7);  // the whole may be faster than its halves
}

TEST_CASE("profile: the halves release the activations") {
  const auto memory = [](const std::string& fields) {
    return stage_of(R"("forward": 1, "backward": 2, "memory": {"activations": 10)" + fields + "}").memory;
  };
  CHECK(memory("") == brim::stage_memory{0, 10, 0, 10});
  CHECK(memory(R"(, "released_by_backward_input": 4)") == brim::stage_memory{0, 10, 4, 6});
  CHECK(memory(R"(, "released_by_backward_weight": 4)") == brim::stage_memory{0, 10, 6, 4});
}

TEST_CASE("profile: units, and rounding to the nearest") {
  const auto forward = [](const std::string& unit, const std::string& value) {
    return brim::io::parse_profile(R"({"time_unit": ")" + unit +
                                   R"(", "format": "brim.profile/1", "stages": [{"forward": )" + value +
                                   R"(, "backward": 1}]})")
        .stages[0]
        .cost.forward;
  };
  CHECK(forward("ns", "2.5") == 3);
  CHECK(forward("ns", "2.4999") == 2);
  CHECK(forward("us", "29244.303") == 29'244'303);
  CHECK(forward("ms", "0.000001") == 1);
  CHECK(forward("s", "1e-9") == 1);
  CHECK(forward("s", "1125899") == 1'125'899'000'000'000);
  CHECK(forward("ns", "1125899906842624") == brim::longest_duration);
  const auto weights = [](const std::string& unit) {
    return brim::io::parse_profile(
               R"({"stages": [{"forward": 1, "backward": 1, "memory": {"weights": 1.5}}], "format": "brim.profile/1", "memory_unit": ")" +
               unit + "\"}")
        .stages[0]
        .memory.weights;
  };
  CHECK(weights("B") == 2);
  CHECK(weights("KiB") == 1536);
  CHECK(weights("MiB") == 1'572'864);
  CHECK(weights("GiB") == 1'610'612'736);
  CHECK(weights("kB") == 1500);
  CHECK(weights("MB") == 1'500'000);
  CHECK(weights("GB") == 1'500'000'000);
}

TEST_CASE("profile: bad input is refused with the field, the value and what was expected") {
  const std::vector<bad> table{
      {"", "line 1, column 1"},
      {"{\"format\": \"brim.profile/1\",\n \"stages\": [{\"forward\": 1,, }]}",
       "line 2, column 27 (in stages[0].forward): "},
      {R"({"format": "brim.profile/1", "stages": [{"forward": 1, "backward": 2)", "(in stages[0].backward)"},
      {R"({"format": "brim.profile/1", "stages": [{"forward": NaN, "backward": 2}]})", "(in stages[0].forward)"},
      {R"({"format": "brim.profile/1", "stages": [{"forward": 1e999, "backward": 2}]})",
       "number overflow parsing '1e999'"},
      {"{\"format\": \"\xFF\"}", "invalid string"},
      {"[]", "the text is an array; expected an object"},
      {"1", "the text is 1; expected an object"},
      {"{}", "format: it is missing, and required"},
      {R"({"format": "brim.profile/1"})", "stages: it is missing, and required"},
      {R"({"format": "brim.profile/2", "stages": []})", "format: unknown format; expected \"brim.profile/1\""},
      {R"({"format": 7, "stages": []})", "format is 7; expected a text"},
      {R"({"format": "brim.profile/1", "stages": []})", "stages: there are no stages"},
      {R"({"format": "brim.profile/1", "stages": {}})", "stages is an object; expected an array"},
      {R"({"format": "brim.profile/1", "stages": [7]})", "stages[0] is 7; expected an object"},
      {with(R"("colour": "red")"),
       "colour: unknown field; expected one of format name source time_unit memory_unit stages links devices"},
      {with(R"("time_unit": "ticks")"), "time_unit: unknown unit \"ticks\"; expected one of ns, us, ms, s"},
      {with(R"("memory_unit": "Mb")"),
       "memory_unit: unknown unit \"Mb\"; expected one of B, KiB, MiB, GiB, kB, MB, GB"},
      {with(R"("time_unit": "ns", "time_unit": "ms")"), "time_unit: it is there twice"},
      {with(R"("links": {"p2p": [1, -2]})"), "links.p2p[1] is -2; expected a time from 0 to 2^50 ns"},
      {with(R"("links": {"p2p": "fast"})"), "links.p2p is \"fast\"; expected a time"},
      {with(R"("devices": [])"), "devices: there are no devices"},
      {with(R"("devices": [{"speed": 0}])"), "devices[0].speed is 0; expected a number from 1e-6 to 1e6"},
      {with(R"("devices": [{"speed": 1}, {"count": 70000}])"),
       "devices[1].count is 70000; expected a whole number from 1 to 65536"},
      {with(R"("devices": [{"count": 65536}, {}])"), "devices[1]: more than 65536 devices in all"},
      {one_stage(R"("backward": 2)"), "stages[0].forward: it is missing, and required"},
      {one_stage(R"("forward": 1)"),
       "stages[0]: backward is missing, and required (or backward_input and backward_weight)"},
      {one_stage(R"("forward": 1, "backward_input": 1)"), "stages[0]: backward_weight is missing"},
      {one_stage(R"("forward": 1, "backward_weight": 1)"), "stages[0]: backward_input is missing"},
      {one_stage(R"("forward": 1, "backward": 2, "backward_input": 3)"),
       "stages[0]: one half of the backward is longer than the whole"},
      {one_stage(R"("forward": -1, "backward": 2)"), "stages[0].forward is -1; expected a time from 0 to 2^50 ns"},
      {one_stage(R"("forward": -0.001, "backward": 2)"), "stages[0].forward is -0.001; expected a time"},
      {one_stage(R"("forward": true, "backward": 2)"), "stages[0].forward is true; expected a time"},
      {one_stage(R"("forward": null, "backward": 2)"), "stages[0].forward is null; expected a time"},
      {one_stage(R"("forward": "1", "backward": 2)"), "stages[0].forward is \"1\"; expected a time"},
      {one_stage(R"("forward": [1], "backward": 2)"), "stages[0].forward is an array; expected a time"},
      {one_stage(R"("forward": 1125899906842625, "backward": 2)"),
       "stages[0].forward is 1125899906842625; expected a time from 0 to 2^50 ns"},
      {one_stage(R"("forward": 1e300, "backward": 2)"), "stages[0].forward is 1e+300; expected a time"},
      {one_stage(R"("forward": 18446744073709551616, "backward": 2)"),
       "stages[0].forward is 18446744073709551616; expected a time"},
      {one_stage(R"("forward": 1, "backward": 2, "recompute": 1.5e15)"),
       "stages[0].recompute is 1.5e+15; expected a time"},
      {one_stage(R"("forward": 1, "backward_input": 1125899906842624, "backward_weight": 1)"), "more than 2^50 ns"},
      {one_stage(R"("count": 0, "forward": 1, "backward": 2)"),
       "stages[0].count is 0; expected a whole number from 1 to 65536"},
      {one_stage(R"("count": 1.5, "forward": 1, "backward": 2)"), "stages[0].count is 1.5; expected a whole number"},
      {one_stage(R"("count": 1000000000, "forward": 1, "backward": 2)"),
       "stages[0].count is 1000000000; expected a whole number from 1 to 65536"},
      {one_stage(R"("count": 65536, "forward": 1, "backward": 2}, {"forward": 1, "backward": 2)"),
       "stages[1]: more than 65536 stages in all"},
      {one_stage(R"("count": 65536, "forward": 1, "backward": 2, "layers": [{"count": 5}])"),
       "stages[0]: more than 262144 layers in all"},
      {one_stage(
           R"("forward": 1, "backward": 2, "layers": [{"count": 65536}, {"count": 65536}, {"count": 65536}, {"count": 65536}, {}])"),
       "stages[0].layers[4]: more than 262144 layers"},
      {one_stage(R"("forward": 1, "backward": 2, "memory": {"weights": -5})"),
       "stages[0].memory.weights is -5; expected an amount from 0 to 2^50 bytes"},
      {one_stage(R"("forward": 1, "backward": 2, "memory": {"activations": 5, "released_by_backward_input": 6})"),
       "stages[0].memory: the halves of the backward release more"},
      {one_stage(
           R"("forward": 1, "backward": 2, "memory": {"activations": 5, "released_by_backward_input": 3, "released_by_backward_weight": 4})"),
       "release more than"},
      {one_stage(R"("forward": 1, "backward": 2, "Memory": {})"),
       "stages[0].Memory: unknown field; expected one of count forward"},
      {with_layer(R"("name": 7)"), "stages[0].layers[1].name is 7; expected a text"},
      {with_layer("\"name\": \"" + std::string(300, 'x') + '"'), "expected a text of at most 256 bytes"},
      {with_layer(R"("inputs": -1)"), "stages[0].layers[1].inputs is -1; expected a whole number from 0 to 2147483647"},
      {with_layer(R"("outputs": 3000000000)"), "stages[0].layers[1].outputs is 3000000000; expected a whole number"},
      {with_layer(R"("statistic": 5)"), "stages[0].layers[1].statistic is 5; expected an object"},
      {with_layer(R"("statistic": {"c": 5})"), "stages[0].layers[1].statistic.c: unknown field; expected one of a b"},
      {with_layer(R"("refresh": {"a": -3})"), "stages[0].layers[1].refresh.a is -3; expected a time"},
      {with_layer(R"("memory": {"factors": "big"})"),
       "stages[0].layers[1].memory.factors is \"big\"; expected an amount"},
      {with_layer("\"a\\nb\": 1"), "stages[0].layers[1].a\\nb: unknown field"},
      {std::string(100'000, '['), "more than 16 brackets inside each other"},
  };
  for (const bad& b : table) {
    const brim::error e = failure_of(b.text);
    CAPTURE(b.text.substr(0, 200));
    CAPTURE(std::string(e.what()));
    CHECK(e.code() == brim::error_code::bad_file);
    CHECK(std::string(e.what()).rfind("profile: ", 0) == 0);
    CHECK(std::string(e.what()).find(b.says) != std::string::npos);
  }
}

TEST_CASE("profile: what is too large to read is refused before it is held") {
  const brim::error size = failure_of(std::string((64U << 20U) + 1, ' '));
  CHECK(std::string(size.what()).find("longer than 67108864 bytes") != std::string::npos);
  std::string zeros = R"({"format": "brim.profile/1", "links": {"p2p": [0)";
  for (int i = 0; i < 70'000; ++i) zeros += ",0";
  CHECK(std::string(failure_of(zeros + R"(]}, "stages": [{"forward": 1, "backward": 2}]})").what())
            .find("more than 65536 boundaries") != std::string::npos);
  for (int i = 0; i < 5'000'000; ++i) zeros += ",0";
  CHECK(std::string(failure_of(zeros + "]}}").what()).find("more than 4194304 values") != std::string::npos);
}

TEST_CASE("profile: written and read again it is the same") {
  brim::profile p;
  p.name = std::string(samples::hostile);
  p.source = "somewhere";
  p.stages.resize(5);
  for (std::size_t i = 0; i < p.stages.size(); ++i) p.stages[i].cost.forward = i < 3 ? 7 : 8;
  p.stages[1].layers.resize(4);
  p.stages[1].layers[2] = {std::string(samples::hostile), 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  p.stages[4].memory = {1, 100, 30, 20};
  p.links = {5, {1, 2, 3, 4}};
  p.devices = {{0.1, 7}, {0.1, 7}, {1.0 / 3, brim::largest_memory}};
  CHECK(brim::io::parse_profile(brim::io::profile_json(p)) == p);
  const brim::profile one{.name = "", .source = "", .stages = {brim::stage_profile{}}, .links = {}, .devices = {}};
  CHECK(brim::io::parse_profile(brim::io::profile_json(one)) == one);
  CHECK(golden::difference("profile.json", brim::io::profile_json(p)) == "");
  const auto folder = test_support::scratch_dir() / "io_profile";
  std::filesystem::create_directories(folder);
  brim::io::write_profile(folder / "p.json", p);
  CHECK(brim::io::read_profile(folder / "p.json") == p);
}

TEST_CASE("profile: errors of a file start with its name") {
  const auto folder = test_support::scratch_dir() / "io_profile";
  std::filesystem::create_directories(folder);
  brim::io::write_file(folder / "bad.json", "{}");
  try {
    (void)brim::io::read_profile(folder / "bad.json");
    FAIL("it was accepted");
  } catch (const brim::error& e) {
    CHECK(std::string(e.what()) == (folder / "bad.json").string() + ": format: it is missing, and required");
  }
}

namespace {

/// Published kernel times of one block in ms and memory in MiB (arXiv 2211.14133), as the profiles must add up to.
struct published {
  const char* file;
  int stages;
  double forward, backward, statistics, refresh, precondition;
  double parameters, activations, saved_errors, factors;
  double saved_inputs;  ///< tokens × (3h + f) × 4 bytes: query, key and value share one
  double head_forward, head_backward;
  double p2p;
};

const std::vector<published>& published_blocks() {
  static const std::vector<published> rows{
      {"bert-base-p100", 4, 9.748101234436035, 16.45023822784424, 25.546598434448242, 71.66688442230225,
       6.805300712585449, 39.1005859375, 264.0625, 108, 94.5, 84, 32, 64, 5},
      {"bert-base-v100", 4, 6.065177917480469, 9.726667404174805, 16.18068218231201, 49.09377098083496,
       3.889036178588867, 39.1005859375, 264.0625, 108, 94.5, 84, 19.910, 39.820, 5},
      {"bert-base-rtx3090", 4, 3.015303611755371, 5.08723258972168, 6.946539878845215, 38.506174087524414,
       1.689600944519043, 39.1005859375, 264.0625, 108, 94.5, 84, 9.898, 19.797, 5},
      {"bert-large-p100", 8, 16.100358963012695, 26.9528865814209, 43.4995174407959, 126.70085430145264,
       14.734029769897461, 64.11328125, 352.0625, 144, 168, 112, 40, 80, 2},
      {"bert-large-v100", 8, 10.386371612548828, 16.284918785095215, 27.4472713470459, 80.84607124328613,
       8.895540237426758, 64.11328125, 352.0625, 144, 168, 112, 25.804, 51.608, 2},
      {"bert-large-rtx3090", 8, 4.85384464263916, 7.776951789855957, 10.989928245544434, 61.98554039001465,
       3.8578271865844727, 64.11328125, 352.0625, 144, 168, 112, 12.059, 24.118, 2},
      {"opt-350m-v100", 8, 35.52701473236084, 64.77510929107666, 53.69873046875, 81.07447624206543, 8.974099159240723,
       144.05078125, 3168, 288, 168, 224, 0, 0, 0},
  };
  return rows;
}

brim::profile shipped(const std::string& name) {
  return brim::io::read_profile(test_support::source_dir() / "examples" / "profiles" / (name + ".json"));
}

brim::ticks ns(double milliseconds) { return std::llround(milliseconds * 1e6); }
brim::bytes mib(double value) { return std::llround(value * 1048576); }

void check_stage(const brim::stage_profile& s, const published& row) {
  constexpr int blocks = 3;
  CHECK(s.memory.weights == mib(blocks * row.parameters));
  CHECK(s.memory.activations == mib(blocks * row.activations));
  REQUIRE(s.layers.size() == 6 * blocks);
  brim::layer_profile sum;
  for (const brim::layer_profile& l : s.layers) {
    sum.statistic_a += l.statistic_a + l.statistic_b;
    sum.refresh_a += l.refresh_a + l.refresh_b;
    sum.precondition += l.precondition;
    sum.saved_inputs += l.saved_inputs;
    sum.saved_errors += l.saved_errors;
    sum.factors += l.factors;
    const double area = static_cast<double>(l.inputs) / l.outputs;  // a side's refresh grows with the cube of its size
    CHECK(static_cast<double>(l.refresh_a) ==
          doctest::Approx(static_cast<double>(l.refresh_b) * area * area * area).epsilon(1e-4));
    CHECK(static_cast<double>(l.statistic_a) ==
          doctest::Approx(static_cast<double>(l.statistic_b) * area * area).epsilon(1e-4));
  }
  CHECK(sum.statistic_a == blocks * ns(row.statistics));
  CHECK(sum.refresh_a == blocks * ns(row.refresh));
  CHECK(sum.precondition == blocks * ns(row.precondition));
  CHECK(sum.saved_inputs == mib(blocks * row.saved_inputs));
  CHECK(sum.saved_errors == mib(blocks * row.saved_errors));
  CHECK(sum.factors == mib(blocks * row.factors));
}

}  // namespace

TEST_CASE("shipped profiles: they add up to the published block") {
  for (const published& row : published_blocks()) {
    CAPTURE(row.file);
    const brim::profile p = shipped(row.file);
    CHECK(p.source.find("arXiv 2211.14133") != std::string::npos);
    CHECK(p.links == brim::link_profile{});
    REQUIRE(p.stages.size() == static_cast<std::size_t>(row.stages));
    for (const brim::stage_profile& s : p.stages) {
      CHECK(s.cost.forward == 3 * ns(row.forward));
      CHECK(s.cost.backward == 3 * ns(row.backward));
      check_stage(s, row);
    }
    if (row.head_forward == 0) continue;
    const brim::profile head = shipped(std::string(row.file) + "-head");
    CHECK(head.links == brim::link_profile{0, {ns(row.p2p)}});
    REQUIRE(head.stages.size() == p.stages.size());
    for (std::size_t s = 0; s + 1 < p.stages.size(); ++s) CHECK(head.stages[s] == p.stages[s]);
    check_stage(head.stages.back(), row);
    CHECK(std::abs(head.stages.back().cost.forward - p.stages.back().cost.forward - ns(row.head_forward)) <= 1000);
    CHECK(std::abs(head.stages.back().cost.backward - p.stages.back().cost.backward - ns(row.head_backward)) <= 1000);
  }
}

TEST_CASE("shipped profiles: BERT-Large with head has the published baseline of 59.8 %") {
  const brim::timeline t =
      brim::simulate(brim::schemes::chimera{}, {.devices = 8, .microbatches = 8}, shipped("bert-large-p100-head"));
  CHECK(1 - brim::bubble_ratio(t) == doctest::Approx(0.598).epsilon(0.0005));
}
