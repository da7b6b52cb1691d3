// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/graph/concepts.hpp>
#include <brim/graph/dependency.hpp>
#include <brim/graph/transfer_pairs.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace brim {

struct plan_edge {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  plan_dependency kind = plan_dependency::stream;

  friend constexpr auto operator<=>(const plan_edge&, const plan_edge&) = default;
};

namespace detail {

/// The edges of a plan, once by source and once by target.
struct plan_edges {
  std::vector<plan_edge> outgoing, incoming;
  std::vector<std::uint32_t> out_begin, in_begin;  ///< `vertices + 1` positions

  using range = std::pair<const plan_edge*, const plan_edge*>;

  template <program_like Program>
  explicit plan_edges(const Program& program) : vertices_(program.instructions.size()) {
    if (vertices_ >= none) refuse("more than 2^32 - 2 instructions");
    add_streams(program);
    add_events(program);
    add_transfers(program);
    incoming.resize(outgoing.size());
    std::vector<plan_edge> found = std::exchange(outgoing, std::vector<plan_edge>(incoming.size()));
    out_begin = sort_into(outgoing, found, &plan_edge::source);
    in_begin = sort_into(incoming, outgoing, &plan_edge::target);
  }

  [[nodiscard]] range out_of(std::size_t v) const {
    return {outgoing.data() + out_begin[v], outgoing.data() + out_begin[v + 1]};
  }
  [[nodiscard]] range into(std::size_t v) const {
    return {incoming.data() + in_begin[v], incoming.data() + in_begin[v + 1]};
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  [[noreturn]] static void refuse(const std::string& fault) {
    raise(error_code::bad_plan, text("plan graph: ", fault));
  }

  template <class Program>
  void add_streams(const Program& program) {
    for (const auto& stream : program.streams) {
      if (stream.begin > stream.end || stream.end > vertices_) refuse("a stream ends behind the last instruction");
      for (std::uint32_t v = stream.begin; v + 1 < stream.end; ++v)
        outgoing.push_back({v, v + 1, plan_dependency::stream});
    }
  }

  template <class Program>
  void add_events(const Program& program) {
    const auto events = static_cast<std::size_t>(std::max(program.events, 0));
    if (events > vertices_) refuse("there are more events than instructions");
    std::vector<std::uint32_t> recorder(events, none);
    for (std::uint32_t v = 0; v < vertices_; ++v) {
      const auto event = program.instructions[v].records;
      if (event.value < 0) continue;
      if (event.at() >= events || recorder[event.at()] != none)
        refuse(text("instruction ", v, " records event ", event.value, ", which does not exist or is recorded twice"));
      recorder[event.at()] = v;
    }
    for (std::uint32_t v = 0; v < vertices_; ++v) {
      const auto& i = program.instructions[v];
      if (i.first_wait > program.waits.size() || i.wait_count > program.waits.size() - i.first_wait)
        refuse(text("instruction ", v, " has waits behind the last one"));
      for (std::uint32_t w = i.first_wait; w < i.first_wait + i.wait_count; ++w) {
        const auto event = program.waits[w];
        if (event.value < 0 || event.at() >= events || recorder[event.at()] == none)
          refuse(text("instruction ", v, " waits for event ", event.value, ", which nobody records"));
        outgoing.push_back({recorder[event.at()], v, plan_dependency::event});
      }
    }
  }

  template <class Program>
  void add_transfers(const Program& program) {
    for (const auto& [send, receive] : transfer_pairs(program))
      outgoing.push_back({send, receive, plan_dependency::transfer});
  }

  /// Counting sort by one end; edges with the same end keep their order. Gives where each vertex begins.
  std::vector<std::uint32_t> sort_into(std::vector<plan_edge>& to, const std::vector<plan_edge>& from,
                                       std::uint32_t plan_edge::*end) const {
    std::vector<std::uint32_t> begin(vertices_ + 2, 0);
    for (const plan_edge& e : from) ++begin[e.*end + 2];
    for (std::size_t v = 2; v < begin.size(); ++v) begin[v] += begin[v - 1];
    for (const plan_edge& e : from) to[begin[e.*end + 1]++] = e;
    begin.pop_back();
    return begin;
  }

  std::size_t vertices_;
};

}  // namespace detail
}  // namespace brim
