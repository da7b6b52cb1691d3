// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/text.hpp>
#include <brim/model/action.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace brim::detail {

/// Text as a quoted DOT string that Graphviz shows as it is. Line ends stay; other control characters become spaces.
[[nodiscard]] inline std::string dot_quoted(std::string_view raw) {
  std::string out = "\"";
  for (const char c : raw) switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '&': out += "&amp;"; break;  // Graphviz replaces HTML entities, also in plain labels
      default: out += c >= '\0' && c < ' ' ? ' ' : c;
    }
  return out += '"';
}

/// One colour for each family of actions, light enough for black text.
[[nodiscard]] constexpr std::string_view dot_color(action_kind kind) {
  switch (kind) {
    case action_kind::forward: return "#a6cee3";
    case action_kind::recompute: return "#cfe3ef";
    // NOLINTNEXTLINE(bugprone-branch-clone): a table of colours
    case action_kind::backward: return "#b2df8a";
    case action_kind::backward_input: return "#b2df8a";
    case action_kind::backward_weight: return "#dcefc8";
    case action_kind::optimizer_step: return "#d9d9d9";
    case action_kind::statistic: return "#fdd49e";
    case action_kind::refresh: return "#fb9a99";
    case action_kind::precondition: return "#cab2d6";
    default: return "#f0f0f0";
  }
}

/// Writes a directed graph whose vertices lie in clusters.
class dot_writer {
 public:
  explicit dot_writer(std::string_view title)
      : out_(text("digraph {\n  graph [label=", dot_quoted(title),
                  ", labelloc=t, rankdir=LR, fontname=\"sans-serif\"]\n"
                  "  node [shape=box, style=filled, fontname=\"sans-serif\"]\n")) {}

  void open_cluster(std::int64_t number, std::string_view label) {
    out_ += text(indent_, "subgraph cluster_", number, " {\n");
    indent_ += "  ";
    out_ += text(indent_, "label=", dot_quoted(label), "\n");
  }
  void close_cluster() {
    indent_.resize(indent_.size() - 2);
    out_ += text(indent_, "}\n");
  }

  /// `style` is more attributes, e.g. `", penwidth=3"`.
  void vertex(std::size_t v, std::string_view label, std::string_view color, std::string_view style) {
    out_ += text(indent_, v, " [label=", dot_quoted(label), ", fillcolor=\"", color, "\"", style, "]\n");
  }
  void edge(std::size_t from, std::size_t to, std::string_view style) {
    out_ += text(indent_, from, " -> ", to, " [", style, "]\n");
  }
  [[nodiscard]] std::string finish() && { return std::move(out_ += "}\n"); }

 private:
  std::string out_;
  std::string indent_ = "  ";
};

}  // namespace brim::detail
