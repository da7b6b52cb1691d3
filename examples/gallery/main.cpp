// SPDX-License-Identifier: Apache-2.0
// Every shipped scheme on four devices and eight microbatches, with equal stages: its picture, the four measures of its
// bubble, and its memory. Forward and both halves of the backward of a device take 2 ticks each, those of a chunk or a slice 1.
#include <brim/brim.hpp>
#include <brim/io/ascii_grid.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>

namespace {

/// `parts`: chunks of a device, or slices of a sequence. A pass of one of them takes its share of 2 ticks.
void show(const auto& scheme, brim::pipeline_shape shape, std::int32_t parts) {
  const brim::ticks pass = 2 / parts;
  const brim::timeline t = simulate(scheme, shape, brim::uniform_cost{.forward = pass, .backward = 2 * pass});
  const auto busy = static_cast<double>(brim::busy(t));
  const auto idle = static_cast<double>(shape.devices * makespan(t)) - busy;
  const auto peaks = peak_memory(t, brim::uniform_memory{});
  const auto peak = static_cast<double>(*std::max_element(peaks.begin(), peaks.end()));
  std::cout << "== " << scheme.name << "\nbubble: " << 100 * bubble_ratio(t) << " % of the makespan, "
            << 100 * bubble_ratio(t, brim::length_kind::longest_span) << " % of the longest span, "
            << 100 * bubble_ratio(t, brim::length_kind::period) << " % of the period, " << 100 * idle / busy
            << " % over ideal\nkeeps " << peak / parts << " microbatches\n"
            << brim::io::ascii_grid(t) << '\n';
}

constexpr brim::pipeline_shape stages{.devices = 4, .microbatches = 8};
constexpr brim::pipeline_shape chunks{.devices = 4, .microbatches = 8, .chunks = 2};
constexpr brim::pipeline_shape slices{.devices = 4, .microbatches = 16};

}  // namespace

int main() {
  using namespace brim::schemes;
  std::cout << std::fixed << std::setprecision(1);
  show(gpipe{}, stages, 1);
  show(one_f_one_b{}, stages, 1);
  show(eager_one_f_one_b{}, stages, 1);
  show(seq_one_f_one_b{}, slices, 2);
  show(interleaved_one_f_one_b{}, chunks, 2);
  show(looped_bfs{}, chunks, 2);
  show(chimera{}, stages, 1);
  show(hanayo{}, chunks, 2);
  show(bitpipe{}, chunks, 2);
  show(gems{}, stages, 1);
  show(zero_bubble_h1{}, stages, 1);
  show(zero_bubble_h2{}, stages, 1);
  show(interleaved_zero_bubble{}, chunks, 2);
  show(grouped_interleave{}, chunks, 2);
  show(zero_bubble_v{}, chunks, 2);
  show(v_half{}, chunks, 2);
  show(v_min{}, chunks, 2);
}
