// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/text.hpp>
#include <brim/fill/filled.hpp>
#include <brim/io/file.hpp>
#include <brim/io/json_writer.hpp>
#include <brim/schedule/metrics.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace brim::detail {

/// A table with named columns; every row has a cell for each.
class csv_writer {
 public:
  csv_writer& cell(std::string_view words) {
    separate();
    if (words.find_first_of(",\"\r\n") == words.npos) {
      out_ += words;
      return *this;
    }
    out_ += '"';
    for (const char c : words) out_ += c == '"' ? std::string("\"\"") : std::string(1, c);
    out_ += '"';
    return *this;
  }
  template <class Number>
    requires std::is_arithmetic_v<Number>
  csv_writer& cell(Number value) {
    separate();
    append_number(out_, value);
    return *this;
  }
  csv_writer& empty(std::size_t cells) {
    for (; cells > 0; --cells) separate();
    return *this;
  }
  void end_row() {
    out_ += '\n';
    fresh_ = true;
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void separate() {
    if (!fresh_) out_ += ',';
    fresh_ = false;
  }

  std::string out_;
  bool fresh_ = true;
};

inline constexpr std::string_view metrics_columns =
    "scheme,devices,microbatches,chunks,pairs,replica,device,busy,span,makespan,period,bubble_ratio_makespan,bubble_"
    "ratio_span,bubble_ratio_period,"
    "policy,cycle_length,step_length,utilization_before,utilization,bound,load,refresh_interval,greatest_age,"
    "precondition,overhead,kept\n";

/// The columns up to the bubble ratios; `device` −1 stands for all of them.
inline csv_writer& pipeline_cells(csv_writer& out, const timeline_view& t, std::int32_t replica, std::int32_t device) {
  const auto ratio = [](ticks busy, std::int64_t devices, ticks length) {
    return length == 0 ? 0.0
                       : 1.0 - static_cast<double>(busy) / (static_cast<double>(devices) * static_cast<double>(length));
  };
  const bool all = device < 0;
  const std::int64_t devices = all ? t.shape.devices : 1;
  const ticks work = all ? busy(t) : busy_of(t, device_index(device));
  const ticks span = all ? longest_span(t) : span_of(t, device_index(device));
  out.cell(t.scheme)
      .cell(t.shape.devices)
      .cell(t.shape.microbatches)
      .cell(t.shape.chunks)
      .cell(t.shape.pairs)
      .cell(replica);
  if (all)
    out.cell("all");
  else
    out.cell(device);
  out.cell(work).cell(span).cell(makespan(t)).cell(period(t));
  return out.cell(ratio(work, devices, makespan(t)))
      .cell(ratio(work, devices, span))
      .cell(ratio(work, devices, period(t)));
}

}  // namespace brim::detail

namespace brim::io {

/// The metrics of a timeline: a heading, one row a device, one row for `all`. The columns about second-order work are
/// empty.
[[nodiscard]] inline std::string metrics_csv(const timeline_view& t) {
  detail::csv_writer out;
  for (std::int32_t d = 0; d <= t.shape.devices; ++d)
    detail::pipeline_cells(out, t, 0, d < t.shape.devices ? d : -1).empty(12).end_row();
  return std::string(detail::metrics_columns) + out.take();
}

/// The same columns, all of them, device by device of every replica; the row for `all` has the means and the worst.
[[nodiscard]] inline std::string metrics_csv(const filled& f) {
  const timeline_view t = f.pipeline;
  detail::csv_writer out;
  const auto devices = static_cast<std::size_t>(t.shape.devices);
  for (std::size_t i = 0; i < f.report.devices.size(); ++i) {
    const device_report& r = f.report.devices[i];
    detail::pipeline_cells(out, t, static_cast<std::int32_t>(i / devices), static_cast<std::int32_t>(i % devices));
    out.cell(f.report.policy)
        .cell(f.cycle_length)
        .cell(f.step_length)
        .cell(r.utilization_before)
        .cell(r.utilization)
        .cell(r.bound)
        .cell(r.load);
    out.cell(r.refresh_interval).cell(r.greatest_age).cell(r.precondition).empty(1).cell(r.kept).end_row();
  }
  const fill_report& r = f.report;
  detail::pipeline_cells(out, t, 0, -1);
  out.cell(r.policy)
      .cell(f.cycle_length)
      .cell(f.step_length)
      .cell(r.utilization_before)
      .cell(r.utilization)
      .cell(r.bound)
      .cell(r.load);
  out.cell(r.refresh_interval).cell(r.greatest_age).empty(1).cell(r.overhead).cell(r.kept).end_row();
  return std::string(detail::metrics_columns) + out.take();
}

/// Writes the table as a whole. Errors: `io_failure`.
inline void write_metrics_csv(const std::filesystem::path& path, const timeline_view& t) {
  write_file(path, metrics_csv(t));
}
inline void write_metrics_csv(const std::filesystem::path& path, const filled& f) { write_file(path, metrics_csv(f)); }

}  // namespace brim::io
