// SPDX-License-Identifier: Apache-2.0
// The search against published schedules and proven optima. bench_search_grid runs all rows; this is a part of them.
#include "data.hpp"

#include <brim/schedule/memory.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/search/search.hpp>
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace test_support;
using brim::bytes;
using brim::ticks;

std::int64_t integer(const record& row, const char* column) { return std::stoll(row.at(column)); }

std::vector<std::int64_t> integers(const record& row, const char* column) {
  std::vector<std::int64_t> out;
  for (const std::string& word : split(row.at(column), ' ')) out.push_back(std::stoll(word));
  return out;
}

/// Memory of each stage, in the words of the data.
struct staged_memory {
  std::vector<bytes> taken{};
  std::vector<bytes> kept{};

  [[nodiscard]] bytes at_start(const brim::action& a, brim::device_index) const {
    return a.kind == brim::action_kind::forward ? taken[a.stage.at()] : 0;
  }
  [[nodiscard]] bytes at_end(const brim::action& a, brim::device_index) const {
    if (a.kind == brim::action_kind::backward_input) return kept[a.stage.at()] - taken[a.stage.at()];
    return a.kind == brim::action_kind::backward_weight ? -kept[a.stage.at()] : 0;
  }
  [[nodiscard]] bytes resident(brim::route_index, brim::stage_index) const { return 0; }
};

/// Searches, and lets the rest of brim check the result.
template <class Costs, class Memory>
brim::search_result checked_search(const brim::pipeline_shape& shape, const Costs& costs, const Memory& memory,
                                   const std::vector<bytes>& limits, std::int64_t operations) {
  const brim::search_options options{
      .goal = brim::length_kind::longest_span, .memory_limits = limits, .operations = operations};
  brim::search_result result = brim::search(shape, costs, memory, options);
  const brim::timeline again = brim::simulate(result.best.program, costs);
  CHECK(again == result.best);
  CHECK(brim::longest_span(again) == result.length);
  CHECK(result.bound.length <= result.length);
  const std::vector<bytes> peaks = brim::peak_memory(again, memory);
  for (std::size_t d = 0; d < peaks.size(); ++d)
    if (limits[d] > 0) CHECK(peaks[d] <= limits[d]);
  return result;
}

/// Longer, equal or shorter than a reference: seen to fail below.
std::string verdict(ticks ours, ticks reference) {
  return ours < reference ? "shorter" : ours == reference ? "equal" : "longer";
}

/// All proven optima below one microbatch a device, and every `stride`-th other row.
bool takes(const record& row, std::size_t number, std::size_t stride) {
  const bool scarce = integer(row, "limit") > 0 && integer(row, "limit") < integer(row, "devices") * integer(row, "taken");
  if (row.at("set") == "ilp" && scarce && row.at("proven") == "1") return true;
  return number % stride == 0 && integer(row, "devices") <= 16;
}

}  // namespace

TEST_CASE("never longer than published schedules, as short as proven optima") {
  std::map<std::string, int> seen;
  int optimal = 0;
  int grid = 0;
  std::size_t number = 0;
  for (const record& row : read_csv("search_grid.csv")) {
    if (!takes(row, number++, 29)) continue;
    const brim::pipeline_shape shape{.devices = static_cast<std::int32_t>(integer(row, "devices")),
                                     .microbatches = static_cast<std::int32_t>(integer(row, "microbatches"))};
    const brim::uniform_cost costs{.forward = integer(row, "forward"),
                                   .backward = integer(row, "backward_input") + integer(row, "backward_weight"),
                                   .backward_input = integer(row, "backward_input"),
                                   .backward_weight = integer(row, "backward_weight"),
                                   .transfer_time = integer(row, "hop")};
    const brim::uniform_memory memory{.activation = integer(row, "taken"),
                                      .released_by_backward_input = integer(row, "taken") - integer(row, "kept")};
    const std::vector<bytes> limits(static_cast<std::size_t>(shape.devices), integer(row, "limit"));
    CAPTURE(number);
    CAPTURE(row.at("set"));
    CAPTURE(brim::to_string(shape));
    const bool proven = row.at("proven") == "1";
    const brim::search_result result = checked_search(shape, costs, memory, limits, 1'000'000);
    const std::string how = verdict(result.length, integer(row, "reference"));
    CHECK(how != "longer");
    if (proven) CHECK(how == "equal");
    ++seen[row.at("set") + " " + how];
    if (row.at("set") == "grid") {
      ++grid;
      if (result.length == result.bound.length) ++optimal;
    }
  }
  CHECK(seen["grid equal"] + seen["grid shorter"] == grid);
  CHECK(grid >= 40);
  CHECK(seen["sweep equal"] + seen["sweep shorter"] >= 15);
  CHECK(seen["ilp equal"] >= 50);
  CHECK(100 * optimal >= 93 * grid);  // of all rows it is 98
}

TEST_CASE("uneven stages: inputs on which a published scheduler fails, and measured vocabulary stages") {
  std::map<std::string, int> seen;
  std::size_t number = 0;
  for (const record& row : read_csv("search_uneven.csv")) {
    const std::vector<std::int64_t> forward = integers(row, "forward");
    const std::vector<std::int64_t> input = integers(row, "backward_input");
    const std::vector<std::int64_t> weight = integers(row, "backward_weight");
    if (row.at("set") == "vocabulary" && ++number % 4 != 0) continue;
    const brim::pipeline_shape shape{.devices = static_cast<std::int32_t>(forward.size()),
                                     .microbatches = static_cast<std::int32_t>(integer(row, "microbatches"))};
    brim::stage_costs costs{};
    for (std::size_t s = 0; s < forward.size(); ++s)
      costs.stages.push_back({.forward = forward[s],
                              .backward = input[s] + weight[s],
                              .backward_input = input[s],
                              .backward_weight = weight[s]});
    costs.transfers.assign(forward.size() - 1, integer(row, "hop"));
    const staged_memory memory{.taken = integers(row, "taken"), .kept = integers(row, "kept")};
    CAPTURE(row.at("set"));
    CAPTURE(brim::to_string(shape));
    const brim::search_result result = checked_search(shape, costs, memory, integers(row, "limit"), 200'000);
    ++seen[row.at("set")];
    if (integer(row, "reference") > 0) CHECK(verdict(result.length, integer(row, "reference")) != "longer");
    CHECK(result.gap < 0.06);
  }
  CHECK(seen == std::map<std::string, int>{{"crash", 12}, {"fixed", 8}, {"memory", 16}, {"vocabulary", 10}});
}

TEST_CASE("the verdict sees a length that is too long") {
  CHECK(verdict(3, 2) == "longer");
  CHECK(verdict(2, 2) == "equal");
  CHECK(verdict(1, 2) == "shorter");
}
