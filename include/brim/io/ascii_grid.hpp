// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/io/letters.hpp>
#include <brim/io/palette.hpp>
#include <brim/io/scene.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace brim::io {

enum class colour : std::uint8_t { no, ansi };

struct grid_options {
  std::int32_t width = 100;  ///< columns of the grid, without the labels
  std::int32_t steps = 4;    ///< at most so many steps of a refresh cycle
  io::colour colour = io::colour::no;
  letter_table letters{};
};

}  // namespace brim::io

namespace brim::detail {

/// Paints a scene with one character a column.
class grid_painter {
 public:
  grid_painter(const scene& shown, const io::grid_options& options) : shown_(shown), options_(options) {
    const ticks length = std::max<ticks>(1, shown.longest());
    const auto width = std::clamp<std::int64_t>(options.width, 1, 10'000);
    // Where every start and end is a multiple of one unit and there is room, a unit gets whole columns: an exact grid.
    ticks unit = 0;
    for (const scene_panel& p : shown.panels)
      for (const scene_row& r : p.rows)
        for (const scene_item& i : r.items) unit = std::gcd(std::gcd(unit, i.time.start), i.time.end);
    const std::int64_t cells = unit > 0 ? (length + unit - 1) / unit : width + 1;
    per_cell_ = cells <= width ? std::min<std::int64_t>(3, width / cells) : 0;
    columns_ = static_cast<std::size_t>(per_cell_ > 0 ? cells * per_cell_ : width);
    ticks_shown_ = per_cell_ > 0 ? cells * unit : length;
  }

  std::string paint() {
    std::size_t label_width = 0;
    for (const scene_panel& p : shown_.panels)
      for (const scene_row& r : p.rows) label_width = std::max(label_width, r.label.size());
    std::string out = shown_.title + '\n';
    for (const scene_panel& p : shown_.panels) {
      out += p.heading + (p.value.empty() ? "" : ": ") + p.value + '\n';
      for (const scene_row& r : p.rows) {
        out += r.label;
        out.append(label_width - r.label.size(), ' ');
        out += " |";
        row(out, r);
        out += "|\n";
      }
    }
    return out + legend();
  }

 private:
  struct cell {
    char letter;
    const scene_item* item;
  };

  /// The column of a time, rounded: neighbours that touch in time touch in the grid, and a column shows what runs at
  /// its middle, however short that is.
  [[nodiscard]] std::size_t column(ticks time) const {
    const double at = static_cast<double>(time) / static_cast<double>(ticks_shown_) * static_cast<double>(columns_);
    return std::min(columns_, static_cast<std::size_t>(std::max(0.0, at + 0.5)));
  }

  void row(std::string& out, const scene_row& r) {
    std::vector<cell> cells(columns_, {options_.letters.idle, nullptr});
    for (const scene_item& i : r.items) box(cells, i);
    const bool colours = options_.colour == io::colour::ansi;
    const scene_item* before = nullptr;
    for (const cell& c : cells) {
      if (colours && c.item != before) out += c.item != nullptr ? ansi_colour(c.item->what) : ansi_reset;
      before = c.item;
      out += c.letter;
    }
    if (colours && before != nullptr) out += ansi_reset;
  }

  /// A letter, then a pipeline action's microbatch where it fits, then dashes to the end.
  void box(std::vector<cell>& cells, const scene_item& item) {
    const std::size_t first = column(item.time.start);
    const std::size_t last = column(item.time.end);
    if (first >= last) return;
    std::string label = note(item.what);
    if (label.size() <= last - first)
      label.append(last - first - label.size(), options_.letters.goes_on);
    else
      label = label.substr(0, 1) + std::string(last - first - 1, options_.letters.goes_on);
    for (std::size_t c = first; c < last; ++c) cells[c] = {label[c - first], &item};
  }
  std::string note(const action& what) {
    const char letter = options_.letters.of(what);
    used_[static_cast<std::size_t>(static_cast<unsigned char>(letter))] = name_of_letter(what);
    std::string label(1, letter);
    if (is_pipeline_action(what.kind) && what.microbatch.value >= 0) label += std::to_string(what.microbatch.value);
    return label;
  }

  static std::string name_of_letter(const action& what) {
    std::string name(name_of(what.kind));
    if (what.kind == action_kind::statistic && what.side != side::none) name += text(' ', name_of(what.side));
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
  }

  std::string legend() const {
    const ticks column =
        std::max<ticks>(1, ticks_shown_ * std::max<ticks>(1, per_cell_) / static_cast<ticks>(columns_));
    std::string out =
        duration_text(column, column < 10'000 ? shown_.longest() : column) + (per_cell_ > 0 ? " a cell" : " a column");
    for (std::size_t c = 0; c < used_.size(); ++c)
      if (!used_[c].empty()) out += text("   ", static_cast<char>(c), ' ', used_[c]);
    return out + text("   ", options_.letters.idle, " idle\n");
  }

  const scene& shown_;
  const io::grid_options& options_;
  std::int64_t per_cell_ = 0;  ///< columns of one unit of time; 0 where time is rounded to columns
  std::size_t columns_ = 0;
  ticks ticks_shown_ = 1;
  std::array<std::string, 256> used_{};
};

}  // namespace brim::detail

namespace brim::io {

/// A timeline for a terminal: one row a device, time from left to right, one letter a kind (`letters.hpp`), then the
/// microbatch where there is room, `-` while the action goes on, `.` where the device is idle.
///
/// A column shows what runs at its middle; where all times are multiples of one unit that fits, the grid is exact.
/// Lines end in `\n`. Complexity: linear in actions and columns.
[[nodiscard]] inline std::string ascii_grid(const timeline_view& t, const grid_options& options = {}) {
  const detail::scene shown = detail::scene_of(t);
  return detail::grid_painter(shown, options).paint();
}

/// The step before the fill, then the first steps of the refresh cycle.
[[nodiscard]] inline std::string ascii_grid(const filled& f, const grid_options& options = {}) {
  const detail::scene shown = detail::scene_of(f, options.steps);
  return detail::grid_painter(shown, options).paint();
}

}  // namespace brim::io
