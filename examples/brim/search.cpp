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

bool fits(const std::vector<brim::bytes>& needed, const std::vector<brim::bytes>& limits) {
  for (std::size_t d = 0; d < limits.size(); ++d)
    if (limits[d] > 0 && needed[d] > limits[d]) return false;
  return true;
}

std::vector<std::string> row_of(const brim::search_result& found, const job& work, const search_wishes& wishes) {
  const auto worst = [](const std::vector<brim::bytes>& peaks) {
    return *std::max_element(peaks.begin(), peaks.end());
  };
  const brim::bytes peak = worst(peak_memory(found.best, work.costs));
  return {std::to_string(worst(peak_memory(found.best, brim::uniform_memory{}))),  // one byte a microbatch
          peak == 0 ? "unknown" : size(peak),
          fixed(1e-6 * static_cast<double>(found.length), 1),
          fixed(100 * bubble_ratio(found.best, wishes.goal), 1),
          fixed(1e-6 * static_cast<double>(found.bound.length), 1),
          fixed(100 * found.gap, 1),
          binding_text(found)};
}

}  // namespace

std::string run_search(const search_request& request) {
  const job work = prepare_job(request.job, read_profile(request.job.profile), searched_name, chunk_rule::one);
  const search_wishes& wishes = request.job.search;
  const std::string what = wishes.goal == brim::length_kind::longest_span ? "span" : std::string(name_of(wishes.goal));
  text_table table{.left_from = 6};
  table.rows = {{"in flight", "peak", what, "bubble", "bound", "gap", "what keeps it from being shorter"},
                {"microbatches", "", "ms", "%", "ms", "%", ""}};
  const brim::search_result most = search_order(work, wishes, work.limits);
  const auto limits = [&](std::int64_t count) { return brim::memory_for(count, work.shape, work.costs); };
  // One more microbatch at a time, later an eighth more, as long as that makes it shorter.
  const bool knows_memory = limits(1) != limits(0);
  bool reached = false;
  for (std::int64_t k = 1; knows_memory && !reached && fits(limits(k), work.limits); k += 1 + k / 8) {
    const brim::search_result found = search_order(work, wishes, limits(k));
    reached = found.length <= most.length || k >= work.shape.microbatches;
    table.rows.push_back(row_of(found, work, wishes));
  }
  if (!reached) table.rows.push_back(row_of(most, work, wishes));
  std::string out = text(counted(work.shape.devices, "device"), ", ", counted(work.shape.microbatches, "microbatch"));
  if (!work.costs.name.empty()) out += "; " + work.costs.name;
  out += text(
      "\nThe best orders found for one stage a device, backwards in halves, with memory for more and more "
      "microbatches.\n\n",
      table.text(), "\nbubble  idle share of the ", what, "\nbound   no order within that memory is shorter\n",
      "peak    the worst device's\n");
  if (!knows_memory) out += "The profile says nothing about memory, so there is one row.\n";
  if (reached && work.limits.empty()) out += "More memory than in the last row brings nothing.\n";
  return out;
}

}  // namespace tool
