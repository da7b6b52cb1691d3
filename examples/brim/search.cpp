// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "outputs.hpp"
#include "searching.hpp"
#include "words.hpp"

#include <brim/core/text.hpp>
#include <brim/schedule/memory.hpp>
#include <brim/schedule/metrics.hpp>

#include <algorithm>

namespace tool {
namespace {

using brim::detail::text;

/// What every device needs for `count` microbatches in flight at a time.
std::vector<brim::bytes> memory_for(std::int64_t count, const job& work) {
  std::vector<brim::bytes> needed;
  for (const brim::device_index d : devices(work.shape)) {
    const brim::action forward{.stage = brim::stage_of(d), .microbatch = brim::microbatch_index(0)};
    needed.push_back(work.costs.resident(brim::route_index(0), brim::stage_of(d)) +
                     count * work.costs.at_start(forward, d));
  }
  return needed;
}

bool fits(const std::vector<brim::bytes>& needed, const std::vector<brim::bytes>& limits) {
  for (std::size_t d = 0; d < limits.size(); ++d)
    if (limits[d] > 0 && needed[d] > limits[d]) return false;
  return true;
}

std::vector<std::string> row_of(const std::string& in_flight, const brim::search_result& found, const job& work,
                                const search_wishes& wishes) {
  const std::vector<brim::bytes> peaks = peak_memory(found.best, work.costs);
  const brim::bytes peak = *std::max_element(peaks.begin(), peaks.end());
  return {in_flight,
          peak == 0 ? "unknown" : size(peak),
          fixed(1e-6 * static_cast<double>(found.length), 1),
          fixed(100 * bubble_ratio(found.best, wishes.goal), 1),
          fixed(1e-6 * static_cast<double>(found.bound.length), 1),
          fixed(100 * found.gap, 1),
          binding_text(found)};
}

}  // namespace

std::string run_search(const search_request& request) {
  const job work = prepare_job(request.job, read_profile(request.job.profile), chunk_rule::one);
  const search_wishes& wishes = request.job.search;
  const std::string what = wishes.goal == brim::length_kind::longest_span ? "span" : std::string(name_of(wishes.goal));
  text_table table;
  table.rows = {{"in flight", "peak", what, "bubble", "bound", "gap", "what keeps it from being shorter"},
                {"microbatches", "", "ms", "%", "ms", "%", ""}};
  const brim::search_result most = search_order(work, wishes, work.limits);
  // One more microbatch at a time, then steps of an eighth, as long as that makes the step shorter.
  const std::vector<brim::bytes> one = memory_for(1, work);
  const bool knows_memory = one != memory_for(0, work);
  for (std::int64_t k = 1; knows_memory && k < work.shape.microbatches; k += 1 + k / 8) {
    const std::vector<brim::bytes> needed = memory_for(k, work);
    if (!fits(needed, work.limits)) break;
    const brim::search_result found = search_order(work, wishes, needed);
    if (found.length <= most.length) break;
    table.rows.push_back(row_of(std::to_string(k), found, work, wishes));
  }
  table.rows.push_back(row_of(work.limits.empty() ? "any" : "limit", most, work, wishes));
  std::string out = text(counted(work.shape.devices, "device"), ", ", counted(work.shape.microbatches, "microbatch"));
  if (!work.costs.name.empty()) out += "; " + work.costs.name;
  out += text(
      "\nThe best orders found for one stage a device, backwards in halves, with memory for more and more "
      "microbatches.\n\n",
      table.text(), "\nbubble  idle share of the ", what, "\nbound   no order within that memory is shorter\n",
      "peak    the worst device's\n");
  if (!knows_memory) out += "The profile says nothing about memory, so there is one row.\n";
  return out;
}

}  // namespace tool
