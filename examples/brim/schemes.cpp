// SPDX-License-Identifier: Apache-2.0
#include "catalogue.hpp"
#include "searching.hpp"

#include <brim/schedule/simulate.hpp>
#include <brim/scheme/scheme.hpp>

#include <algorithm>
#include <array>
#include <tuple>

namespace tool {
namespace {

using namespace brim::schemes;

/// The schemes in the order of the table; a scheme that is added here appears in every command.
constexpr std::tuple<gpipe, one_f_one_b, eager_one_f_one_b, seq_one_f_one_b, interleaved_one_f_one_b, looped_bfs,
                     chimera, zero_bubble_h1, zero_bubble_h2, interleaved_zero_bubble, grouped_interleave,
                     zero_bubble_v, v_half, v_min, hanayo, bitpipe, gems>
    all{};

/// Where the order is searched and not made by a rule.
constexpr scheme_entry searched{searched_name,
                                chunk_rule::one,
                                pair_rule::none,
                                "what the search finds",
                                "what --memory-limit allows",
                                "every shape, 1 chunk",
                                "the best order found, with its gap"};

constexpr std::array table{
    scheme_entry{gpipe::name, chunk_rule::one, pair_rule::none, "(p-1)(f+b)", "m microbatches", "every shape, 1 chunk",
                 "all forwards, then all backwards"},
    scheme_entry{one_f_one_b::name, chunk_rule::one, pair_rule::none, "(p-1)(f+b)", "p - device, at most m",
                 "every shape, 1 chunk", "a backward as soon as there is one"},
    scheme_entry{eager_one_f_one_b::name, chunk_rule::one, pair_rule::none, "(p-1)(f+b)",
                 "2(p - device) - 1, at most m", "every shape, 1 chunk", "1f1b that hides transfers"},
    scheme_entry{seq_one_f_one_b::name, chunk_rule::one, pair_rule::none, "(p-1)(f+b) of a slice",
                 "p - device + 1 slices", "m even, 1 chunk", "microbatches are halves of sequences"},
    scheme_entry{interleaved_one_f_one_b::name, chunk_rule::several, pair_rule::none, "(p-1)(f+b)/v if m >= p",
                 "about p + (p-1)/v", "every shape, any chunks", "1f1b over several chunks a device"},
    scheme_entry{looped_bfs::name, chunk_rule::several, pair_rule::none, "(p-1)(f+b)/v if m >= p", "m microbatches",
                 "every shape, any chunks", "chunk by chunk, all microbatches each"},
    scheme_entry{chimera::name, chunk_rule::one, pair_rule::several, "(p/2-1)(f+b) if f = b, m = p, 1 pair",
                 "p/2 + 1 to p", "devices a multiple of 2 x pairs",
                 "routes in both directions; weights 2 x pairs times"},
    scheme_entry{zero_bubble_h1::name, chunk_rule::one, pair_rule::none, "(p-1)(i + max(f-w, 0))", "p, at most m",
                 "every shape, 1 chunk", "1f1b with the weight halves of backwards late"},
    scheme_entry{zero_bubble_h2::name, chunk_rule::one, pair_rule::none, "span: (p-1)max(0, f+i-2w, i-f)",
                 "2p - 1, at most m", "every shape, 1 chunk", "gains where steps follow without a barrier"},
    scheme_entry{interleaved_zero_bubble::name, chunk_rule::several, pair_rule::none, "(p-1)(i + max(f-w, 0))/v",
                 "p, at most m", "every shape, any chunks", "zb-h1 over several chunks a device"},
    scheme_entry{grouped_interleave::name, chunk_rule::several, pair_rule::none, "(p-1)(f+i)/v if groups of p",
                 "(p/2(v-1) + p - device)/v", "every shape, any chunks", "interleaved in small groups: least memory"},
    scheme_entry{zero_bubble_v::name, chunk_rule::several, pair_rule::none, "span: (p-1)(i-w) if w <= f <= i",
                 "p, at most m", "every shape, 2 chunks", "no bubble if f, i, w are equal"},
    scheme_entry{v_half::name, chunk_rule::several, pair_rule::none, "(3p-7)/2 if f = i = w = 1", "p/2 + 1",
                 "every shape, 2 chunks", "half the memory of 1f1b, less bubble"},
    scheme_entry{v_min::name, chunk_rule::several, pair_rule::none, "(4p-5)/2 if f = i = w = 1", "(p + 4)/3",
                 "every shape, 2 chunks", "a third of the memory of 1f1b"},
    scheme_entry{hanayo::name, chunk_rule::several, pair_rule::none, "2(p-1)f/v if f = b, p | m", "p - (p-1)/v to p",
                 "even chunks", "waves: chimera with one copy of the weights"},
    scheme_entry{bitpipe::name, chunk_rule::several, pair_rule::none, "(p/2-1)(f+b)/2 if f = b", "at most p if f = b",
                 "even devices, 2 chunks", "V routes in both directions; weights twice"},
    scheme_entry{gems::name, chunk_rule::one, pair_rule::none, "(p-1)/(p+1/2) of the makespan", "1",
                 "even devices, 1 chunk", "least memory, one microbatch at a time; weights twice"},
    searched,
};
static_assert(table.size() == std::tuple_size_v<decltype(all)> + 1);

}  // namespace

std::span<const scheme_entry> schemes() { return table; }

const scheme_entry& scheme_named(std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const scheme_entry& s) { return s.name == name; });
  BRIM_EXPECT(found != table.end());
  return *found;
}

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  names.reserve(table.size());
  for (const scheme_entry& entry : table) names.emplace_back(entry.name);
  return names;
}

brim::placement placement_named(std::string_view scheme, const brim::pipeline_shape& shape) {
  brim::placement where = looped(shape);
  const auto try_one = [&](const auto& one) {
    if (one.name == scheme && refusal_of(one, shape).empty()) where = placement_of(one, shape);
  };
  std::apply([&](const auto&... one) { (try_one(one), ...); }, all);
  return where;
}

brim::timeline simulate_named(std::string_view scheme, const brim::pipeline_shape& shape, const brim::profile& costs) {
  brim::timeline made;
  const auto try_one = [&](const auto& one) {
    if (one.name != scheme) return false;
    made = simulate(one, shape, costs);
    return true;
  };
  const bool found = std::apply([&](const auto&... one) { return (try_one(one) || ...); }, all);
  BRIM_EXPECT(found);
  return made;
}

}  // namespace tool
