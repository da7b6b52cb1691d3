// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_problem.hpp>
#include <brim/search/search.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace brim {
namespace detail {

/// Hands the questions of several searches on, and remembers that one was answered with `stop`.
struct search_relay {
  search_callback callback = nullptr;
  void* context = nullptr;
  bool stopped = false;

  static search_answer ask(void* self, const search_progress& progress) {
    auto& relay = *static_cast<search_relay*>(self);
    if (!relay.stopped && relay.callback != nullptr)
      relay.stopped = relay.callback(relay.context, progress) == search_answer::stop;
    return relay.stopped ? search_answer::stop : search_answer::go_on;
  }
};

}  // namespace detail

/// What every device needs in order to keep `count` microbatches at a time, resident bytes included: limits for a search.
/// Pre: one stage a device; the memory of `count` microbatches fits 2^60 bytes.
/// Errors: `bad_profile` where a microbatch does not give back exactly what it took.
template <memory_model Memory>
[[nodiscard]] std::vector<bytes> memory_for(std::int64_t count, const pipeline_shape& shape, const Memory& memory) {
  constexpr std::array kinds{action_kind::forward, action_kind::backward_input, action_kind::backward_weight};
  std::vector<bytes> needed;
  for (const device_index d : devices(shape)) {
    detail::memory_steps steps{};
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const action what{kinds[k], side::none, route_index(0), stage_of(d), microbatch_index(0), layer_index(-1)};
      steps.start[k] = memory.at_start(what, d);
      steps.end[k] = memory.at_end(what, d);
    }
    line_device here{};
    bool exact = true;
    detail::set_memory(here, exact, steps, d);
    needed.push_back(detail::bounded_sum(memory.resident(route_index(0), stage_of(d)), count * here.taken));
  }
  return needed;
}

/// As `search`, but of the orders of that length it takes one for which the fewest microbatches in flight suffice: more memory
/// than that would not make the step shorter. The bound is that of the limits that were given.
///
/// Complexity: that of `search`, times ln of the microbatches. Errors: those of `search`.
template <class Costs, class Memory>
[[nodiscard]] search_result search_lean(const pipeline_shape& shape, const Costs& costs, const Memory& memory,
                                        const search_options& options = {}) {
  detail::search_relay relay{options.callback, options.context};
  search_options each = options;
  each.callback = detail::search_relay::ask;
  each.context = &relay;
  search_result best = search(shape, costs, memory, each);
  std::int64_t enough = shape.microbatches;
  for (std::int64_t too_few = 0; too_few + 1 < enough && !relay.stopped;) {
    const std::int64_t count = (too_few + enough) / 2;
    each.memory_limits = memory_for(count, shape, memory);
    for (std::size_t d = 0; d < options.memory_limits.size() && d < each.memory_limits.size(); ++d)
      if (const bytes limit = options.memory_limits[d]; limit != 0)
        each.memory_limits[d] = std::min(each.memory_limits[d], limit);
    search_result found = search(shape, costs, memory, each);
    best.operations += found.operations;
    if (found.length > best.length) {
      too_few = count;
      continue;
    }
    enough = count;
    found.bound = best.bound;
    found.gap =
        best.bound.length > 0 ? static_cast<double>(found.length) / static_cast<double>(best.bound.length) - 1 : 0;
    found.operations = best.operations;
    best = std::move(found);
  }
  return best;
}

}  // namespace brim
