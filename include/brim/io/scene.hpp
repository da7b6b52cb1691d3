// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/text.hpp>
#include <brim/fill/filled.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/timeline.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace brim::detail {

/// One action in a picture.
struct scene_item {
  action what;
  interval time;  ///< relative to the start of the panel
  std::int32_t steps_late = 0;
  std::int32_t piece = 0;
  std::int32_t pieces = 1;
};

/// What one device does in one panel, by start.
struct scene_row {
  std::string label;
  std::vector<scene_item> items;
};

/// One step of all devices, under one heading.
struct scene_panel {
  std::string heading;
  std::string value;  ///< stands beside the heading: how busy, how long
  ticks length = 0;
  std::vector<scene_row> rows;
};

/// What the pictures show, whatever they are drawn with: the step before the fill, then steps of the refresh cycle.
struct scene {
  std::string title;
  std::vector<scene_panel> panels;

  [[nodiscard]] ticks longest() const {
    ticks length = 0;
    for (const scene_panel& p : panels) length = std::max(length, p.length);
    return length;
  }
};

/// A number with a fixed count of decimals, whatever the locale.
inline std::string fixed(double value, int decimals) {
  char digits[400];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, decimals).ptr;
  return {digits, end};
}

inline std::string percent(double share) { return fixed(share * 100, 1) + " %"; }

/// A duration for people, in the unit that suits `longest`. Small numbers are unit costs rather than
/// nanoseconds, and get none.
inline std::string duration_text(ticks time, ticks longest) {
  const auto value = static_cast<double>(time);
  if (longest < 10'000) return text(time, time == 1 ? " tick" : " ticks");
  if (longest < 1'000'000) return fixed(value / 1e3, 1) + " us";
  if (longest < 10'000'000'000) return fixed(value / 1e6, 1) + " ms";
  return fixed(value / 1e9, 1) + " s";
}

inline std::string counted(std::int64_t count, std::string_view noun) {
  return text(count, ' ', noun, count == 1 ? "" : "s");
}

inline scene_panel panel_of(const timeline_view& t) {
  scene_panel panel;
  for (const device_index d : devices(t.shape)) {
    scene_row row{text("device ", d.value), {}};
    const auto actions = t.row(d);
    const auto times = t.times_of(d);
    for (std::size_t i = 0; i < actions.size(); ++i) row.items.push_back({actions[i], times[i]});
    if (!times.empty()) panel.length = std::max(panel.length, times.back().end);
    panel.rows.push_back(std::move(row));
  }
  return panel;
}

inline std::string scene_title(const timeline_view& t) {
  return text(t.scheme, ", ", counted(t.shape.devices, "device"), ", ", t.shape.microbatches,
              t.shape.microbatches == 1 ? " microbatch" : " microbatches");
}

inline scene scene_of(const timeline_view& t) {
  scene made{scene_title(t), {panel_of(t)}};
  made.panels.front().heading = "pipeline";
  made.title += text(": ", percent(1 - bubble_ratio(t)), " busy");
  made.panels.front().value =
      text(percent(1 - bubble_ratio(t)), " busy, step ", duration_text(makespan(t), made.longest()));
  return made;
}

/// Puts the entries of one step, and the tail, between a replica's pipeline actions.
inline void add_work(std::vector<scene_row>& rows, const filled& f, std::int32_t step) {
  const auto add = [&](const placed_work& w, std::int32_t late) {
    const auto row = static_cast<std::size_t>(w.replica) * static_cast<std::size_t>(f.pipeline.program.shape.devices) +
                     w.device.at();
    if (row < rows.size()) rows[row].items.push_back({w.what, w.time, late, w.piece, w.pieces});
  };
  for (const placed_work& w : f.work)
    if (w.step == step) add(w, w.step - w.origin_step);
  for (const placed_work& w : f.tail) add(w, 0);
  for (scene_row& row : rows)
    std::stable_sort(row.items.begin(), row.items.end(),
                     [](const scene_item& x, const scene_item& y) { return x.time.start < y.time.start; });
}

inline scene scene_of(const filled& f, std::int32_t most_steps) {
  const timeline_view t = f.pipeline;
  scene made{text(scene_title(t), ": ", percent(f.report.utilization_before), " busy before, ",
                  percent(f.report.utilization), " after"),
             {panel_of(t)}};
  scene_panel& before = made.panels.front();
  before.heading = "before";
  before.value = text(percent(f.report.utilization_before), " busy, step ",
                      duration_text(makespan(t), std::max(f.step_length, made.longest())));
  const scene_panel pipeline = before;
  const std::int32_t shown = std::clamp(most_steps, std::int32_t{1}, std::max(f.cycle_length, std::int32_t{1}));
  for (std::int32_t step = 0; step < shown; ++step) {
    scene_panel panel{text(step == 0 ? "after, " : "", "step ", step, " of ", f.cycle_length),
                      {},
                      std::max(f.step_length, pipeline.length),
                      {}};
    if (step == 0)
      panel.value = text(percent(f.report.utilization), " busy over the cycle, step ",
                         duration_text(f.step_length, std::max(f.step_length, made.longest())));
    for (std::int32_t replica = 0; replica < f.replicas; ++replica)
      for (scene_row row : pipeline.rows) {
        if (f.replicas > 1) row.label = text("replica ", replica, ' ', row.label);
        panel.rows.push_back(std::move(row));
      }
    add_work(panel.rows, f, step);
    for (const scene_row& row : panel.rows)
      if (!row.items.empty()) panel.length = std::max(panel.length, row.items.back().time.end);
    made.panels.push_back(std::move(panel));
  }
  return made;
}

}  // namespace brim::detail
