// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fill_quality.hpp"
#include "profiles.hpp"
#include "study.hpp"

#include <brim/brim.hpp>

#include <optional>
#include <string>

namespace bench {

/// A case of the study, done by brim. A form that brim refuses is absent.
struct study_run {
  brim::timeline pipeline;
  std::optional<brim::fill_report> one_shot;  ///< `pipefisher_rule`; pieces are not cut, unless one fits no bubble
  std::optional<brim::fill_report> table;     ///< `fill` as it stands
  std::optional<brim::fill_report> panels;    ///< `fill` with `panel_rule::always`
  std::optional<brim::fill_report> stream;    ///< `fill_stream`
  bool one_shot_cut = false;
  brim::ticks step = 0;  ///< of the table
};

inline brim::timeline simulate_case(const study_case& c, const brim::profile& costs) {
  const brim::pipeline_shape shape{.devices = c.devices, .microbatches = c.microbatches};
  switch (c.scheme) {
    case gpipe: return simulate(brim::schemes::gpipe{}, shape, costs);
    case one_f_one_b: return simulate(brim::schemes::one_f_one_b{}, shape, costs);
    default: return simulate(brim::schemes::chimera{}, shape, costs);
  }
}

/// As the study counts it: the devices' mean, where a report states the worst device's.
inline double mean_load(const brim::fill_report& report) {
  double sum = 0;
  for (const brim::device_report& device : report.devices) sum += device.load;
  return sum / static_cast<double>(report.devices.size());
}

template <class Fill>
std::optional<brim::fill_report> report_or_refusal(Fill fill) {
  try {
    return fill();
  } catch (const brim::error&) {
    return std::nullopt;
  }
}

inline study_run run_study_case(const study_case& c) {
  brim::profile costs = published_profile(std::string(c.profile));
  costs.links.p2p = {static_cast<brim::ticks>(c.transfer_ms * 1e6)};
  study_run out{.pipeline = simulate_case(c, costs), .one_shot = {}, .table = {}, .panels = {}, .stream = {}};
  const brim::kfac_work work{.profile = costs};
  const auto with = [&](const auto& policy, brim::panel_rule panels) {
    return report_or_refusal([&] { return fill(out.pipeline, work, policy, {.panels = panels}).report; });
  };
  out.one_shot = with(brim::fills::pipefisher_rule{}, brim::panel_rule::never);
  if (!out.one_shot) {
    out.one_shot = with(brim::fills::pipefisher_rule{}, brim::panel_rule::when_needed);
    out.one_shot_cut = true;
  }
  out.table = report_or_refusal([&] {
    const brim::filled filled = fill(out.pipeline, work);
    out.step = filled.step_length;
    return filled.report;
  });
  out.panels = with(brim::fills::oldest_longest{}, brim::panel_rule::always);
  out.stream = report_or_refusal([&] { return brim::fill_stream(out.pipeline, work).report(); });
  return out;
}

}  // namespace bench
