// SPDX-License-Identifier: Apache-2.0
// A fill policy and optional work of one's own: the shortest piece first, and a checkpoint written in the bubbles.
#include <brim/brim.hpp>

#include <iomanip>
#include <iostream>

/// A ranked policy is a name, two rules and a comparison.
struct shortest_first {
  static constexpr std::string_view name = "shortest-first";
  static constexpr brim::age_rule age = brim::age_rule::oldest_first;
  brim::refresh_discipline discipline = brim::refresh_discipline::staggered;
  constexpr bool before(const brim::work_batch& a, const brim::work_batch& b) const { return a.duration < b.duration; }
};
static_assert(brim::fill_policy<shortest_first>);

/// Writes each device's snapshot, taken at the start of a step, in chunks. One unit a device: all chunks of a snapshot, in
/// as many steps as it takes.
struct checkpoint {
  std::int32_t chunks = 0;
  brim::ticks chunk = 0;  ///< time of one

  brim::work_set work(const brim::timeline_view& pipeline, const brim::cut_limits&) const {
    brim::work_set set;
    for (std::int32_t d = 0; d < pipeline.shape.devices; ++d) {
      const brim::action what{.kind = brim::action_kind::user, .stage = brim::stage_index(d)};
      set.units.push_back(
          {.stage = brim::stage_index(d), .first_batch = static_cast<std::uint32_t>(d), .batch_count = 1});
      set.batches.push_back({.what = what,
                             .lane = d,
                             .unit = d,
                             .duration = chunk,
                             .pieces = chunks,
                             .division = chunks,
                             .first_release = static_cast<std::uint32_t>(d),
                             .release_count = 1});
      set.releases.push_back({.at = 0});
      set.names.push_back("checkpoint");
    }
    return set;
  }
};
static_assert(brim::work_source<checkpoint>);

void print(const brim::filled& filled) {
  const brim::fill_report& r = filled.report;
  std::cout << "  " << std::setw(14) << r.policy << ": " << 100 * r.utilization_before << " % -> "
            << 100 * r.utilization << " % busy, a table of " << filled.cycle_length
            << " steps, the worst layer anew every " << r.refresh_interval << " steps, age " << r.greatest_age << "\n";
}

int main() {
  std::cout << std::fixed << std::setprecision(1);
  const brim::layer_profile small{
      .name = "attention", .statistic_a = 20, .statistic_b = 20, .refresh_a = 60, .refresh_b = 60, .precondition = 5};
  const brim::layer_profile large{
      .name = "mlp", .statistic_a = 40, .statistic_b = 90, .refresh_a = 150, .refresh_b = 420, .precondition = 10};
  brim::profile profile;
  profile.stages = {{.cost = {.forward = 100, .backward = 200}, .memory = {}, .layers = {small, small, large}}};
  const brim::timeline pipeline = simulate(brim::schemes::one_f_one_b{}, {.devices = 4, .microbatches = 4}, profile);

  std::cout << "K-FAC\n";
  print(brim::fill(pipeline, brim::kfac_work{profile}));
  print(brim::fill(pipeline, brim::kfac_work{profile}, shortest_first{}));

  const brim::filled saved = brim::fill(pipeline, checkpoint{.chunks = 12, .chunk = 95});
  std::cout << "a checkpoint in 12 chunks of 95 ticks, a step of " << saved.step_length << "\n";
  for (const brim::placed_work& w : saved.work)
    if (w.device.value == 1 && w.step == 0)
      std::cout << "  device 1, chunk " << w.piece << ": " << w.time.start << " - " << w.time.end << "\n";
  print(saved);
}
