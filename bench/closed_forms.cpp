// SPDX-License-Identifier: Apache-2.0
// Simulated steps beside the formulas published with PipeFisher: where they agree, and where the formula is wrong.
#include "support/arguments.hpp"
#include "support/published_times.hpp"
#include "support/table.hpp"
#include "support/write_json.hpp"

#include <brim/brim.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

namespace {

constexpr int depths[] = {4, 8, 16};

/// The greatest differences that were seen.
struct deviations {
  brim::ticks time = 0;  ///< our step − the formula's, in microseconds
  double ratio = 0;      ///< our ratio − the published one, which has two decimals
};

template <class Scheme>
brim::timeline simulate_block(const Scheme& scheme, std::int32_t devices, std::int32_t microbatches,
                              brim::ticks forward, brim::ticks backward) {
  return simulate(scheme, {.devices = devices, .microbatches = microbatches},
                  brim::uniform_cost{.forward = forward, .backward = backward});
}

template <class Scheme>
void compare_depths(bench::table& out, const bench::arguments& wanted, const bench::published_times& block,
                    const Scheme& scheme, const double (&ratios)[3],
                    bench::path_counts (*counts)(brim::ticks, brim::ticks), deviations& worst) {
  for (std::size_t i = 0; i < std::size(depths); ++i) {
    const std::int32_t d = depths[i];
    const std::string name = brim::detail::text(block.name, "/", Scheme::name, "/", d, "x", d);
    if (!wanted.wants(name)) continue;
    const brim::timeline t = simulate_block(scheme, d, d, block.forward, block.backward);
    const brim::ticks formula = counts(d, d).length(block.forward, block.backward);
    const brim::ticks ours = makespan(t);
    const double idle = static_cast<double>(ours) - static_cast<double>(busy(t)) / d;
    const double ratio = static_cast<double>(d * block.curvature + block.inversion) / idle;
    worst.time = std::max(worst.time, std::abs(ours - formula));
    worst.ratio = std::max(worst.ratio, std::abs(ratio - ratios[i]));
    out.add({name, 1e-3 * static_cast<double>(formula), 1e-3 * static_cast<double>(ours), ours - formula, ratios[i],
             ratio});
  }
}

bench::table compare_equal(const bench::arguments& wanted) {
  bench::table out("One block a stage, microbatches = devices: the published formula and the simulation",
                   {{"case", "case"},
                    {"formula_ms", "formula ms", 3},
                    {"simulated_ms", "simulated ms", 3},
                    {"difference_us", "difference us"},
                    {"published_ratio", "(curvature + inversion) / bubble", 2},
                    {"ratio", "ours", 4}});
  deviations worst;
  for (const bench::published_times& block : bench::published_blocks) {
    compare_depths(out, wanted, block, brim::schemes::gpipe{}, block.gpipe_ratio, bench::gpipe_counts, worst);
    compare_depths(out, wanted, block, brim::schemes::one_f_one_b{}, block.gpipe_ratio, bench::gpipe_counts, worst);
    compare_depths(out, wanted, block, brim::schemes::chimera{}, block.chimera_ratio, bench::chimera_counts, worst);
  }
  out.print();
  std::printf(
      "greatest deviation: %lld us of the step, %.4f of the ratio (published with two decimals, so 0.005 is exact)\n\n",
      static_cast<long long>(worst.time), worst.ratio);
  return out;
}

bench::table compare_long(const bench::arguments& wanted) {
  bench::table out(
      "Chimera with more microbatches than devices: the published formula is right only where backward = forward",
      {{"case", "case"},
       {"forward", "forward"},
       {"backward", "backward"},
       {"formula", "formula"},
       {"simulated", "simulated"},
       {"corrected", "corrected"},
       {"formula_off_percent", "formula off %", 1},
       {"corrected_off", "corrected off"}});
  constexpr std::pair<brim::ticks, brim::ticks> costs[] = {{1, 1}, {1, 2}, {10, 17}, {9'748, 16'450}};
  double off = 0;
  brim::ticks corrected_off = 0;
  for (const auto& [forward, backward] : costs)
    for (const int d : depths)
      for (const int rounds : {2, 3}) {
        const std::int32_t n = d * rounds;
        const std::string name = brim::detail::text("chimera/", d, "x", n);
        if (!wanted.wants(name)) continue;
        const brim::ticks ours = makespan(simulate_block(brim::schemes::chimera{}, d, n, forward, backward));
        const brim::ticks formula = bench::chimera_counts(n, d).length(forward, backward);
        const brim::ticks corrected = bench::corrected_chimera_counts(n, d).length(forward, backward);
        const double percent = 100.0 * static_cast<double>(formula - ours) / static_cast<double>(ours);
        if (std::abs(percent) > std::abs(off)) off = percent;
        corrected_off = std::max(corrected_off, std::abs(corrected - ours));
        out.add({name, forward, backward, formula, ours, corrected, percent, corrected - ours});
      }
  out.print();
  std::printf(
      "simulated: as soon as possible, in the published order. corrected: (D + 2(a - 1)) forward + a (2D - 2) backward "
      "with\n"
      "a = N/D, for backward >= forward. greatest deviation: formula %.1f %%, corrected %lld ticks\n",
      off, static_cast<long long>(corrected_off));
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments wanted =
      bench::parse_arguments(argc, argv, "closed_forms", "simulated steps beside published formulas");
  try {
    const bench::table equal = compare_equal(wanted);
    const bench::table longer = compare_long(wanted);
    bench::write_json(wanted.json,
                      {{"format", "brim.bench.closed_forms/1"}, {"equal", equal.json()}, {"long", longer.json()}});
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_closed_forms: %s\n", e.what());
    return 1;
  }
}
