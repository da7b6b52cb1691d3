// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/fill/admission.hpp>
#include <brim/fill/bubbles.hpp>
#include <brim/fill/check_work.hpp>
#include <brim/fill/concepts.hpp>
#include <brim/fill/filler.hpp>
#include <brim/fill/margin.hpp>
#include <brim/fill/options.hpp>
#include <brim/fill/work.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace brim::detail {

/// Work that is cut to fit, the bubbles for it, and the groups of lanes that have to be filled together.
struct prepared_fill {
  work_set work;
  bubble_set bubbles;
  std::vector<fill_group> groups;
};

inline std::string describe_batch(const work_set& work, const work_batch& batch, std::int32_t devices) {
  std::string out = text(name_of(batch.what.kind));
  if (batch.what.side != side::none) out += text(" ", name_of(batch.what.side));
  const auto unit = static_cast<std::size_t>(batch.unit);
  if (unit < work.names.size() && !work.names[unit].empty()) out += text(" of ", work.names[unit]);
  out += text(" (stage ", batch.what.stage.value, ", layer ", batch.what.layer.value, ", device ", batch.lane % devices,
              ")");
  return out;
}

/// Whether the refreshes of a lane need panels: one fits no bubble, or, for some length d, the refreshes of at least that
/// length outnumber the bubbles' places for them by more than the work outnumbers the idle time.
inline bool needs_panels(const work_set& work, const bubble_set& bubbles, std::int32_t lane, ticks margin_permille) {
  std::vector<ticks> refreshes;
  ticks all_work = 0;
  for (const work_batch& b : work.batches) {
    if (b.lane != lane) continue;
    all_work += b.duration * b.pieces;
    if (b.what.kind == action_kind::refresh)
      refreshes.insert(refreshes.end(), static_cast<std::size_t>(b.pieces), b.duration);
  }
  std::sort(refreshes.rbegin(), refreshes.rend());
  const auto idle = static_cast<double>(bubbles.total(lane));
  if (idle == 0) return false;
  for (std::size_t i = 0; i < refreshes.size(); ++i) {
    if (i + 1 < refreshes.size() && refreshes[i + 1] == refreshes[i]) continue;
    std::int64_t places = 0;
    for (const interval& gap : bubbles.of(lane)) places += gap.length() / room_for(refreshes[i], margin_permille);
    if (places == 0 ||
        static_cast<double>(i + 1) / static_cast<double>(places) > std::max(1.0, static_cast<double>(all_work) / idle))
      return true;
  }
  return false;
}

[[noreturn]] inline void raise_too_long(const work_set& work, const work_batch& batch, std::int32_t devices,
                                        ticks bubble, ticks margin_permille) {
  raise(error_code::item_too_long,
        text(describe_batch(work, batch, devices), " takes ", batch.duration, " ticks in one piece and needs ",
             room_for(batch.duration, margin_permille), " ticks with its margin; the longest bubble of the device is ",
             bubble, " ticks. ", bubble > 0 ? "Allow panels, or use" : "Use",
             " more devices or fewer microbatches a step."),
        {.device = batch.lane % devices, .stage = batch.what.stage.value, .layer = batch.what.layer.value});
}

/// Lanes that appear in one unit belong together. Groups are ordered by their first lane.
inline std::vector<fill_group> groups_of(const work_set& work, std::size_t lanes) {
  std::vector<std::int32_t> root(lanes);
  for (std::size_t i = 0; i < lanes; ++i) root[i] = static_cast<std::int32_t>(i);
  const auto find = [&](std::int32_t lane) {
    while (root[static_cast<std::size_t>(lane)] != lane) {
      std::int32_t& up = root[static_cast<std::size_t>(lane)];
      up = root[static_cast<std::size_t>(up)];
      lane = up;
    }
    return lane;
  };
  for (const work_batch& b : work.batches) {
    const std::int32_t first = find(work.batches[work.units[static_cast<std::size_t>(b.unit)].first_batch].lane);
    const std::int32_t own = find(b.lane);
    root[static_cast<std::size_t>(std::max(first, own))] = std::min(first, own);
  }
  std::vector<fill_group> groups(lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane)
    groups[static_cast<std::size_t>(find(static_cast<std::int32_t>(lane)))].lanes.push_back(
        static_cast<std::int32_t>(lane));
  for (std::size_t u = 0; u < work.units.size(); ++u)
    groups[static_cast<std::size_t>(find(work.batches[work.units[u].first_batch].lane))].units.push_back(
        static_cast<std::int32_t>(u));
  std::erase_if(groups, [](const fill_group& g) { return g.units.empty(); });
  return groups;
}

inline void check_options(const fill_options& options, std::int32_t devices) {
  const auto refuse = [](const std::string& what) { raise(error_code::no_fill, "fill_options: " + what); };
  if (options.margin_permille < 0 || options.margin_permille > 10'000)
    refuse(text("margin_permille is ", options.margin_permille, "; expected 0 … 10000"));
  if (options.longest_panel < 1) refuse(text("longest_panel is ", options.longest_panel, "; expected at least 1"));
  if (options.longest_cycle < 0 || options.longest_cycle > 4096)
    refuse(text("longest_cycle is ", options.longest_cycle, "; expected 0 … 4096"));
  if (!(options.tolerance >= 0 && options.tolerance <= 1)) refuse("tolerance is out of range; expected 0 … 1");
  if (!options.kept_limits.empty() && options.kept_limits.size() != static_cast<std::size_t>(devices))
    refuse(text("kept_limits has ", options.kept_limits.size(), " entries; expected one for each of the ", devices,
                " devices"));
}

/// Cuts the work, finds the bubbles, and refuses what fits nowhere, before anything is placed. Pieces that are cut are
/// `shorter` times shorter than the options say.
template <work_source Source>
prepared_fill prepare_fill(const timeline_view& pipeline, const Source& source, const fill_options& options,
                           ticks shorter = 1) {
  check_options(options, pipeline.shape.devices);
  prepared_fill out;
  const work_set whole = source.work(pipeline, cut_limits{});
  work_check(whole, pipeline).run();
  out.bubbles = bubbles_of(pipeline, whole);
  check_step(whole, out.bubbles);
  const std::size_t lanes = out.bubbles.tail.size();
  std::vector<ticks> longest;
  std::vector<ticks> panel(lanes, 0);
  std::vector<ticks> chunk(lanes, 0);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto l = static_cast<std::int32_t>(lane);
    longest.push_back(longest_fit(out.bubbles.longest(l), options.margin_permille));
    const bool cut =
        options.panels == panel_rule::always ||
        (options.panels == panel_rule::when_needed && needs_panels(whole, out.bubbles, l, options.margin_permille));
    const ticks piece = std::max<ticks>(1, std::min(options.longest_panel, out.bubbles.longest(l) / 8) / shorter);
    if (cut) panel[lane] = piece;
    if (options.panels == panel_rule::always) chunk[lane] = piece;
  }
  out.work = source.work(pipeline, {longest, panel, chunk});
  work_check(out.work, pipeline).run();
  check_step(out.work, out.bubbles);
  if (out.work.replicas != whole.replicas || out.work.tail != whole.tail)
    raise(error_code::no_fill, "work_source: replicas and tail depend on the limits; they must not");
  for (const work_batch& b : out.work.batches)
    if (b.duration > longest[static_cast<std::size_t>(b.lane)])
      raise_too_long(out.work, b, pipeline.shape.devices, out.bubbles.longest(b.lane), options.margin_permille);
  out.groups = groups_of(out.work, lanes);
  return out;
}

}  // namespace brim::detail
