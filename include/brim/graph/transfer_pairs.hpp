// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/graph/concepts.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace brim::detail {

/// One end of a transfer: what both ends have in common, then the instruction.
struct transfer_end {
  std::int32_t step = 0;
  std::int32_t tag = 0;
  device_index from{0};
  device_index to{0};
  bool gradient = false;
  std::uint32_t vertex = 0;

  [[nodiscard]] auto key() const { return std::tuple(step, tag, from, to, gradient); }
};

/// Sorts one side's ends. Errors: `bad_plan` where a transfer has two of them.
inline void sort_ends(std::vector<transfer_end>& ends) {
  std::sort(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.key() < b.key(); });
  const auto twice =
      std::adjacent_find(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.key() == b.key(); });
  if (twice != ends.end())
    raise(error_code::bad_plan, text("plan graph: instructions ", twice->vertex, " and ", std::next(twice)->vertex,
                                     " are the same end of the transfer with tag ", twice->tag));
}

/// The (send, receive) pairs of a plan: same step, tag, devices and direction. An end without the other is left out.
/// Complexity: O(transfers log transfers).
template <program_like Program>
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> transfer_pairs(const Program& program) {
  using enum action_kind;
  std::vector<transfer_end> sends;
  std::vector<transfer_end> receives;
  for (const auto& stream : program.streams)
    for (std::uint32_t v = stream.begin; v < stream.end; ++v) {
      const auto& i = program.instructions[v];
      const bool gradient = i.what.kind == send_gradient || i.what.kind == recv_gradient;
      if (i.what.kind == send_activation || i.what.kind == send_gradient)
        sends.push_back({i.step, i.tag, stream.device, i.peer, gradient, v});
      else if (i.what.kind == recv_activation || i.what.kind == recv_gradient)
        receives.push_back({i.step, i.tag, i.peer, stream.device, gradient, v});
    }
  sort_ends(sends);
  sort_ends(receives);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  auto receive = receives.begin();
  for (const transfer_end& send : sends) {
    while (receive != receives.end() && receive->key() < send.key()) ++receive;
    if (receive != receives.end() && receive->key() == send.key()) pairs.emplace_back(send.vertex, receive->vertex);
  }
  return pairs;
}

}  // namespace brim::detail
