// SPDX-License-Identifier: Apache-2.0
#include "golden.hpp"
#include "samples.hpp"

#include <brim/io/chrome_trace.hpp>
#include <brim/io/read_plan_json.hpp>
#include <brim/io/write_plan_json.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using nlohmann::json;

brim::error failure_of(const std::string& text) {
  try {
    (void)brim::io::parse_plan_json(text);
  } catch (const brim::error& e) {
    return e;
  }
  return {brim::error_code::bad_shape, "it was accepted"};
}

/// The sample plan as text, with one piece of it replaced.
std::string with(const std::string& old, const std::string& changed) {
  std::string text = brim::io::plan_json(samples::small_plan());
  const std::size_t at = text.find(old);
  REQUIRE_MESSAGE(at != std::string::npos, old);
  return text.replace(at, old.size(), changed);
}

void check_round_trip(const brim::plan& p) {
  const std::string text = brim::io::plan_json(p);
  const brim::plan again = brim::io::parse_plan_json(text);
  CHECK(again == p);
  CHECK(brim::io::plan_json(again) == text);
  CHECK(json::accept(text));
}

}  // namespace

TEST_CASE("plan: written and read again it is the same") {
  check_round_trip(samples::small_plan());
  brim::plan empty;
  empty.where = brim::one_stage_a_device({});
  check_round_trip(empty);
  brim::plan named = samples::small_plan();
  named.scheme = std::string(samples::hostile);
  named.metrics.bubble_ratio = 0.1 + 0.2;
  check_round_trip(named);
}

TEST_CASE("plan: a route without microbatches is placed as usual, an unusual one is written down") {
  brim::plan p = samples::small_plan();
  p.shape.microbatches = 1;
  p.where = brim::mirrored_pairs({.devices = 2});
  check_round_trip(p);
  CHECK(brim::io::plan_json(p).find("holders") == std::string::npos);
  p.where.holders[2] = brim::device_index(0);
  p.where.holders[3] = brim::device_index(1);
  check_round_trip(p);
  CHECK(brim::io::plan_json(p).find("\"holders\": [0, 1, 0, 1]") != std::string::npos);
}

TEST_CASE("plan: golden") { CHECK(golden::difference("plan.json", brim::io::plan_json(samples::small_plan())) == ""); }

TEST_CASE("plan: files") {
  const auto folder = test_support::scratch_dir() / "io_plan";
  std::filesystem::create_directories(folder);
  brim::io::write_plan_json(folder / "p.json", samples::small_plan());
  CHECK(brim::io::read_plan_json(folder / "p.json") == samples::small_plan());
}

TEST_CASE("plan: bad input is refused with the field, the value and what was expected") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"{", "line 1, column"},
      {"{}", "format: it is missing"},
      {with("brim.plan/1", "brim.plan/9"), "format: unknown format; expected \"brim.plan/1\""},
      {with("\"devices\": 2", "\"devices\": 0"), "shape.devices is 0; expected a whole number from 1 to 1048576"},
      {with("\"devices\": 2", "\"device\": 2"), "shape.device: unknown field"},
      {with("\"devices\": 2, ", ""), "shape.devices: it is missing"},
      {with("\"microbatches\": 1,", "\"microbatches\": 1000000000,"),
       "the shape has 2 stages for 1000000000 microbatches or routes, far more than the 11 entries of the plan"},
      {with("\"stages\": 2", "\"stages\": 2000000000"), "the shape has 2000000000 stages"},
      {with("\"routes\": 1", "\"routes\": 40000"), "shape.routes is 40000; expected a whole number from 1 to 32767"},
      {with("\"routes\": 1", "\"routes\": 3"), "no action tells which device holds stage 0 of route 1"},
      {with("\"replica\": 1", "\"replica\": 2"), "shape: replica must be less than replicas"},
      {with("queue_per_edge", "pigeons"), "transport: unknown transport; expected buffered, one_queue"},
      {with("\"ns\"", "\"ms\""), "time_unit: expected \"ns\""},
      {with("\"steps\": 2", "\"steps\": 0"), "steps is 0; expected a whole number from 1 to"},
      {with("\"step_length\": 10", "\"step_length\": 2305843009213693951"), "steps * step_length is more than 2^61"},
      {with("\"events\": 2", "\"events\": 1"), "expected a whole number from 0 to 0"},
      {with("\"events\": 2", "\"events\": 2000000000"), "there are 2000000000 events, more than the 11 entries"},
      {with("\"spans\": [6, 3]", "\"spans\": [6, 3, 1]"), "metrics.spans[2]: more entries than devices"},
      {with("\"makespan\": 6", "\"makespan\": -6"), "metrics.makespan is -6; expected a whole number"},
      {with("\"utilization\": 0.1", "\"utilization\": null"), "metrics.utilization is null; expected a number"},
      {with("\"action\": \"forward\"", "\"action\": \"forwards\""),
       "timeline[0].action: there is no action \"forwards\""},
      {with("\"action\": \"forward\", ", ""), "timeline[0].action: it is missing"},
      {with("\"device\": 0, \"step\": 0, \"action\"", "\"device\": 2, \"step\": 0, \"action\""),
       "timeline[0].device is 2; expected a whole number from 0 to 1"},
      {with("\"device\": 0, \"step\": 0, \"action\"", "\"device\": 1, \"step\": 0, \"action\""),
       "timeline[1]: out of order; expected the entries by device, step and start"},
      {with("\"step\": 0, \"action\"", "\"step\": 2, \"action\""),
       "timeline[0].step is 2; expected a whole number from 0 to 1"},
      {with("\"origin_step\": 0", "\"origin_step\": 2"), "timeline[2]: origin_step is later than step"},
      {with("\"piece\": 1, \"pieces\": 2", "\"piece\": 2, \"pieces\": 2"),
       "timeline[2]: piece must be less than pieces"},
      {with("\"side\": \"b\"", "\"side\": \"c\""), "timeline[2].side: expected \"a\" or \"b\""},
      {with("\"start\": 4, \"end\": 6", "\"start\": 6, \"end\": 4"), "timeline[1]: it ends before it starts"},
      {with("\"start\": 0", "\"start\": 0.5"), "timeline[0].start is 0.5; expected a whole number"},
      {with("\"stream\": \"send\"", "\"stream\": \"pipe\""), "program[1].stream: there is no stream \"pipe\""},
      {with("\"device\": 1, \"stream\": \"receive\"", "\"device\": 0, \"stream\": \"receive\""),
       "program[3]: out of order; expected the streams device by device"},
      {with("\"op\": \"send_activation\"", "\"op\": \"send\""),
       "program[1].instructions[0].op: there is no action \"send\""},
      {with("\"tag\": 7", "\"tag\": -7"), "program[1].instructions[0].tag is -7; expected a whole number from 0"},
      {with("\"waits\": [0]", "\"waits\": [2]"),
       "program[1].instructions[0].waits[0] is 2; expected a whole number from 0 to 1"},
      {with("\"waits\": [0]", "\"waits\": 0"), "program[1].instructions[0].waits is 0; expected an array"},
      {with("\"records\": 0", "\"records\": 2"),
       "program[0].instructions[0].records is 2; expected a whole number from 0 to 1"},
      {with("\"stage\": 0", "\"stage\": 2"), "timeline[0].stage is 2; expected a whole number from 0 to 1"},
      {with("\"microbatch\": 0", "\"microbatch\": 1"),
       "timeline[0].microbatch is 1; expected a whole number from 0 to 0"},
      {with("\"layer\": 3", "\"layer\": 2147483648"), "timeline[2].layer is 2147483648; expected a whole number"},
  };
  for (const auto& [text, says] : table) {
    const brim::error e = failure_of(text);
    CAPTURE(std::string(e.what()));
    CAPTURE(says);
    CHECK(e.code() == brim::error_code::bad_file);
    CHECK(std::string(e.what()).find(says) != std::string::npos);
  }
}

TEST_CASE("trace: goldens") {
  CHECK(golden::difference("timeline.trace.json", brim::io::chrome_trace(samples::two_devices())) == "");
  CHECK(golden::difference("fill.trace.json", brim::io::chrome_trace(samples::small_fill())) == "");
}

namespace {

std::pair<int, int> lane_of(const json& event) { return {event.at("pid").get<int>(), event.at("tid").get<int>()}; }
double time_of(const json& event) { return event.at("ts").get<double>(); }

/// What viewers require: slices of one lane do not overlap, and both ends of a flow lie inside a slice.
void check_trace(const std::string& text, std::size_t processes) {
  const json trace = json::parse(text);
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> lanes;
  std::map<int, const json*> starts;
  std::set<int> pids;
  std::set<std::pair<int, int>> named;
  for (const json& e : trace.at("traceEvents")) {
    const std::string phase = e.at("ph");
    pids.insert(e.at("pid").get<int>());
    if (phase == "X") lanes[lane_of(e)].emplace_back(time_of(e), time_of(e) + e.at("dur").get<double>());
    if (phase == "M" && e.at("name") == "thread_name") named.insert(lane_of(e));
    if (phase == "s") starts[e.at("id").get<int>()] = &e;
  }
  CHECK(pids.size() == processes);
  const auto inside = [&](const json& e) {
    for (const auto& [start, end] : lanes.at(lane_of(e)))
      if (start <= time_of(e) && time_of(e) < end) return true;
    return false;
  };
  std::size_t ends = 0;
  for (const json& e : trace.at("traceEvents")) {
    if (e.at("ph") != "f") continue;
    ++ends;
    const json& start = *starts.at(e.at("id").get<int>());
    CHECK(e.at("bp") == "e");
    CHECK(start.at("name") == e.at("name"));
    CHECK(start.at("cat") == e.at("cat"));
    CHECK(time_of(start) < time_of(e));
    CHECK(inside(start));
    CHECK(inside(e));
  }
  CHECK(ends == starts.size());
  for (auto& [lane, slices] : lanes) {
    CHECK(named.count(lane) == 1);
    std::sort(slices.begin(), slices.end());
    for (std::size_t i = 1; i < slices.size(); ++i) CHECK(slices[i - 1].second <= slices[i].first + 1e-9);
  }
}

std::vector<json> events_named(const std::string& text, const std::string& phase, const std::string& start) {
  std::vector<json> found;
  const json trace = json::parse(text);
  for (const json& e : trace.at("traceEvents"))
    if (e.at("ph") == phase && e.at("name").get<std::string>().rfind(start, 0) == 0) found.push_back(e);
  return found;
}

}  // namespace

TEST_CASE("trace: what viewers require, on timelines with one and two routes and on fills") {
  check_trace(brim::io::chrome_trace(samples::two_devices()), 2);
  const brim::uniform_cost slow_links{.forward = 1001, .backward = 2003, .transfer_time = 5007};
  check_trace(
      brim::io::chrome_trace(brim::simulate(brim::schemes::chimera{}, {.devices = 4, .microbatches = 8}, slow_links)),
      4);
  check_trace(
      brim::io::chrome_trace(brim::simulate(brim::schemes::interleaved_one_f_one_b{},
                                            {.devices = 2, .microbatches = 4, .chunks = 2}, brim::uniform_cost{})),
      2);
  check_trace(brim::io::chrome_trace(samples::small_fill()), 2);
  check_trace(brim::io::chrome_trace(samples::small_fill(3)), 6);
}

TEST_CASE("trace: times are exact, steps follow each other") {
  const std::string text = brim::io::chrome_trace(samples::small_fill());
  CHECK(text.find("\"ts\": 7.25, \"dur\": 0.45") != std::string::npos);  // 7250 ns, 450 ns
  CHECK(text.find("\"ts\": 12, \"dur\": 0.5,") != std::string::npos);    // step 1 starts at 10 000 ns
  const auto late = events_named(text, "X", "statistic b");
  REQUIRE(late.size() == 1);
  CHECK(late[0].at("args").at("step") == 1);
  CHECK(late[0].at("args").at("origin_step") == 0);
  CHECK(events_named(text, "X", "precondition").size() == 4);
  CHECK(events_named(brim::io::chrome_trace(samples::small_fill(), {.steps = 1}), "X", "precondition").size() == 2);
}

TEST_CASE("trace: the counters follow the memory") {
  int most = 0;
  for (const json& e : events_named(brim::io::chrome_trace(samples::two_devices()), "C", "live microbatches"))
    most = std::max(most, e.at("args").at("count").get<int>());
  CHECK(most == 2);
  brim::profile costs;
  costs.stages.resize(1);
  costs.stages[0].memory = {1000, 10, 0, 10};
  costs.stages[0].layers.resize(1);
  costs.stages[0].layers[0].saved_errors = 64;
  const std::string text = brim::io::chrome_trace(samples::small_fill(), costs);
  std::vector<int> bytes;
  for (const json& e : events_named(text, "C", "live memory"))
    if (e.at("pid") == 0) bytes.push_back(e.at("args").at("bytes"));
  CHECK(bytes == std::vector<int>{1000, 1010, 1020, 1010, 1000, 1000, 1010, 1020, 1010, 1000});
  // Device 0 keeps the errors of microbatch 1 from the end of its backward to the statistic of the next step.
  const auto kept = events_named(text, "C", "kept for statistics");
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].at("args").at("bytes") == 64);
  CHECK(time_of(kept[0]) == doctest::Approx(9.5));
  CHECK(kept[1].at("args").at("bytes") == 0);
  CHECK(time_of(kept[1]) == doctest::Approx(10 + 2.5));
}

TEST_CASE("json text: what is not UTF-8 becomes a replacement character, the rest survives") {
  std::string out = "\"";
  brim::detail::append_json_escaped(out, samples::hostile);
  CHECK(json::parse(out + '"').get<std::string>() == samples::hostile);
  for (const std::string& wrong : {std::string("\xFF"), std::string("\xC0\x80"), std::string("\xED\xA0\x80"),
                                   std::string("\xF5\x80\x80\x80"), std::string("\xE2\x82"), std::string("\x80")}) {
    std::string text = "\"";
    brim::detail::append_json_escaped(text, "a" + wrong + "b");
    const std::string back = json::parse(text + '"');
    CHECK(back.front() == 'a');
    CHECK(back.back() == 'b');
    CHECK(back.find("\xEF\xBF\xBD") == 1);
  }
}

TEST_CASE("trace: a hostile scheme name survives") {
  brim::timeline t = samples::two_devices();
  t.program.scheme = samples::hostile;
  CHECK(json::parse(brim::io::chrome_trace(t)).at("otherData").at("scheme") == samples::hostile);
}

TEST_CASE("trace: files") {
  const auto folder = test_support::scratch_dir() / "io_trace";
  std::filesystem::create_directories(folder);
  brim::io::write_chrome_trace(folder / "t.json", samples::small_fill());
  CHECK(golden::content_of(folder / "t.json") == brim::io::chrome_trace(samples::small_fill()));
}
