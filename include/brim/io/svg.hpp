// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/io/file.hpp>
#include <brim/io/palette.hpp>
#include <brim/io/scene.hpp>
#include <brim/io/xml_text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace brim::io {

struct svg_options {
  std::int32_t width = 1200;  ///< pixels, at least 400
  std::int32_t steps = 0;     ///< steps of the refresh cycle; 0: as many as are readable
  std::string_view title{};   ///< replaces the scheme and the shape in the title line
};

}  // namespace brim::io

namespace brim::detail {

/// Draws a scene. All panels have one scale, so that a longer step looks longer.
class svg_painter {
 public:
  svg_painter(const scene& shown, const io::svg_options& options)
      : shown_(shown),
        options_(options),
        width_(std::max(400.0, static_cast<double>(options.width))) {
    std::size_t longest_label = 0;
    std::size_t rows = 0;
    for (const scene_panel& p : shown.panels) {
      rows = std::max(rows, p.rows.size());
      for (const scene_row& r : p.rows) longest_label = std::max(longest_label, r.label.size());
    }
    left_ = margin + 6.5 * static_cast<double>(longest_label) + 10;
    row_ = rows <= 8 ? 20 : rows <= 16 ? 16 : rows <= 32 ? 12 : 8;
    scale_ = (width_ - left_ - margin - 12) / static_cast<double>(std::max<ticks>(1, shown.longest()));
  }

  std::string paint() {
    double y = margin + 18;
    label(margin, y, 17, "#1d2733", "start", options_.title.empty() ? shown_.title : std::string(options_.title), true);
    y += 16;
    for (const scene_panel& p : shown_.panels) y = panel(p, y);
    y = legend(y + 10);
    const std::string height = fixed(std::ceil(y + 8), 0);
    const std::string width = fixed(width_, 0);
    return text("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
                "\" viewBox=\"0 0 ", width, ' ', height,
                "\" font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n<rect width=\"100%\" "
                "height=\"100%\" rx=\"6\" fill=\"#fbfcfd\"/>\n",
                body_, "</svg>\n");
  }

 private:
  static constexpr double margin = 20;

  double panel(const scene_panel& p, double y) {
    y += 20;
    body_ += text("<text x=\"", number(margin), "\" y=\"", number(y),
                  "\" font-size=\"13\" fill=\"#55606d\"><tspan font-weight=\"bold\" fill=\"#1d2733\">");
    append_xml_escaped(body_, p.heading);
    body_ += "</tspan>";
    if (!p.value.empty()) {
      body_ += "<tspan dx=\"10\">";
      append_xml_escaped(body_, p.value);
      body_ += "</tspan>";
    }
    body_ += "</text>\n";
    y += 8;
    const double gap = row_ >= 12 ? 3 : 1;
    const double top = y;
    const double span = scale_ * static_cast<double>(p.length);
    const double height = static_cast<double>(p.rows.size()) * (row_ + gap) - gap;
    body_ += text("<g shape-rendering=\"crispEdges\">\n");
    for (std::size_t r = 0; r < p.rows.size(); ++r)
      rectangle(left_, top + static_cast<double>(r) * (row_ + gap), span, row_, "#e6eaee");
    for (std::size_t r = 0; r < p.rows.size(); ++r) boxes(p.rows[r], top + static_cast<double>(r) * (row_ + gap));
    body_ += "</g>\n";
    for (std::size_t r = 0; r < p.rows.size(); ++r) {
      const double row_top = top + static_cast<double>(r) * (row_ + gap);
      label(left_ - 8, row_top + row_ / 2 + 4, std::min(12.0, row_), "#3c4753", "end", p.rows[r].label);
      numbers(p.rows[r], row_top);
    }
    return axis(p, top + height + 4);
  }

  /// Actions thinner than a pixel share one box, in the colour that takes most of it: the file stays small.
  void boxes(const scene_row& r, double y) {
    for (std::size_t i = 0; i < r.items.size();) {
      const double x = x_of(r.items[i].time.start);
      const scene_item* most = &r.items[i];
      double right = x_of(most->time.end);
      const bool thin = right - x < 1;
      for (++i; thin && i < r.items.size(); ++i) {
        const scene_item& next = r.items[i];
        if (x_of(next.time.end) - x > 2 || x_of(next.time.start) - right > 0.5) break;
        if (next.time.length() > most->time.length()) most = &next;
        right = x_of(next.time.end);
      }
      // A hairline between neighbours, where the box is wide enough to spare it.
      const double line = right - x > 3 ? 1 : right - x > 2 ? 0.5 : 0;
      if (right > x) rectangle(x, y, std::max(0.4, right - x - line), row_, look_of(most->what).fill);
    }
  }
  void numbers(const scene_row& r, double y) {
    if (row_ < 12) return;
    const double size = row_ >= 20 ? 11 : row_ - 4;
    for (const scene_item& i : r.items) {
      if (i.what.microbatch.value < 0) continue;
      const std::string number = std::to_string(i.what.microbatch.value);
      const double left = x_of(i.time.start);
      const double right = x_of(i.time.end);
      if (right - left < 0.62 * size * static_cast<double>(number.size()) + 3) continue;
      label((left + right - 1) / 2, y + row_ / 2 + 0.36 * size, size, look_of(i.what).letter, "middle", number);
    }
  }

  double axis(const scene_panel& p, double y) {
    const ticks length = std::max<ticks>(1, p.length);
    const double wanted = std::max(1.0, scale_ * static_cast<double>(length) / 110);
    const ticks step = round_step(static_cast<double>(length) / wanted);
    const double right = x_of(length);
    body_ += text("<path d=\"M", number(left_), ' ', number(y), "H", number(right));
    for (ticks t = 0; t <= length; t += step) body_ += text('M', number(x_of(t)), ' ', number(y), "v4");
    body_ += "\" stroke=\"#8a95a1\" fill=\"none\"/>\n";
    for (ticks t = 0; t <= length; t += step) label(x_of(t), y + 15, 10.5, "#55606d", "middle", axis_text(t, length));
    return y + 22;
  }
  /// 1, 2 or 5 times a power of ten, at least `least`.
  static ticks round_step(double least) {
    ticks power = 1;
    while (static_cast<double>(power) * 10 <= least) power *= 10;
    for (const ticks factor : {1, 2, 5})
      if (static_cast<double>(factor * power) >= least) return factor * power;
    return 10 * power;
  }
  static std::string axis_text(ticks t, ticks length) {
    const auto value = static_cast<double>(t);
    const auto short_number = [](double v) {
      std::string digits = fixed(v, 2);
      while (digits.back() == '0') digits.pop_back();
      if (digits.back() == '.') digits.pop_back();
      return digits;
    };
    if (length < 10'000) return t == 0 ? "0 ticks" : std::to_string(t);
    if (length < 1'000'000) return short_number(value / 1e3) + " us";
    if (length < 10'000'000'000) return short_number(value / 1e6) + " ms";
    return short_number(value / 1e9) + " s";
  }

  /// The kinds that occur, in the order of their definition.
  double legend(double y) {
    std::vector<const scene_item*> kinds(2 * action_kind_count, nullptr);
    for (const scene_panel& p : shown_.panels)
      for (const scene_row& r : p.rows)
        for (const scene_item& i : r.items)
          if (i.time.length() > 0)
            kinds[2 * static_cast<std::size_t>(i.what.kind) +
                  (i.what.kind == action_kind::statistic && i.what.side == side::b ? 1 : 0)] = &i;
    double x = left_;
    y += 8;
    const auto entry = [&](std::string_view fill, std::string name) {
      std::replace(name.begin(), name.end(), '_', ' ');
      const double needed = 20 + 6.4 * static_cast<double>(name.size()) + 16;
      if (x > left_ && x + needed > width_ - margin) {
        x = left_;
        y += 20;
      }
      rectangle(x, y, 13, 13, fill);
      label(x + 19, y + 11, 12, "#3c4753", "start", name);
      x += needed;
    };
    for (const scene_item* i : kinds) {
      if (i == nullptr) continue;
      std::string name(name_of(i->what.kind));
      if (i->what.kind == action_kind::statistic && i->what.side != side::none)
        name += text(' ', name_of(i->what.side));
      entry(look_of(i->what).fill, name);
    }
    entry("#e6eaee", "idle");
    return y + 13;
  }

  [[nodiscard]] double x_of(ticks time) const { return left_ + scale_ * static_cast<double>(time); }

  static std::string number(double value) {
    std::string digits = fixed(value, 2);
    while (digits.back() == '0') digits.pop_back();
    if (digits.back() == '.') digits.pop_back();
    return digits == "-0" ? "0" : digits;
  }
  void rectangle(double x, double y, double w, double h, std::string_view fill) {
    body_ += text("<rect x=\"", number(x), "\" y=\"", number(y), "\" width=\"", number(w), "\" height=\"", number(h),
                  "\" fill=\"", fill, "\"/>\n");
  }
  void label(double x, double y, double size, std::string_view fill, std::string_view anchor, std::string_view words,
             bool bold = false) {
    body_ +=
        text("<text x=\"", number(x), "\" y=\"", number(y), "\" font-size=\"", number(size), "\" fill=\"", fill, '"');
    if (anchor != "start") body_ += text(" text-anchor=\"", anchor, '"');
    if (bold) body_ += " font-weight=\"bold\"";
    body_ += '>';
    append_xml_escaped(body_, words);
    body_ += "</text>\n";
  }

  const scene& shown_;
  const io::svg_options& options_;
  double width_;
  double left_ = 0;
  double row_ = 20;
  double scale_ = 1;
  std::string body_;
};

/// As many steps as give about 48 rows in all, at least one.
inline std::int32_t readable_steps(const filled& f) {
  const std::int64_t rows = std::int64_t{f.pipeline.program.shape.devices} * std::max(1, f.replicas);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(32 / std::max<std::int64_t>(1, rows), 1, 6));
}

}  // namespace brim::detail

namespace brim::io {

/// A timeline as an SVG picture: one row a device, one colour a kind, microbatch numbers where they fit, axis and
/// legend.
/// Complexity: linear in the actions.
[[nodiscard]] inline std::string svg(const timeline_view& t, const svg_options& options = {}) {
  const detail::scene shown = detail::scene_of(t);
  return detail::svg_painter(shown, options).paint();
}

/// The step before the fill above the steps of the refresh cycle, on one scale.
[[nodiscard]] inline std::string svg(const filled& f, const svg_options& options = {}) {
  const detail::scene shown = detail::scene_of(f, options.steps > 0 ? options.steps : detail::readable_steps(f));
  return detail::svg_painter(shown, options).paint();
}

/// Writes a picture as a whole. Errors: `io_failure`.
inline void write_svg(const std::filesystem::path& path, const timeline_view& t, const svg_options& options = {}) {
  write_file(path, svg(t, options));
}
inline void write_svg(const std::filesystem::path& path, const filled& f, const svg_options& options = {}) {
  write_file(path, svg(f, options));
}

}  // namespace brim::io
