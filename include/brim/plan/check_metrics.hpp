// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/plan/plan_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// What a plan's metrics say is what its timeline shows, as far as it does: lengths, idle and used time. Memory, the lower
/// bound and intervals come from elsewhere and are taken as given. Complexity: linear.
class metrics_check {
 public:
  explicit metrics_check(plan_index& index) : x_(index), p_(index.p), m_(index.p.metrics) {}

  bool run() {
    const auto devices = static_cast<std::size_t>(p_.shape.devices);
    const auto fits = [&](std::size_t size) { return size == 0 || size == devices; };
    if (!fits(m_.spans.size()) || !fits(m_.peak_memory.size()) || !fits(m_.refresh_interval.size()))
      return x_.fail("a list of its metrics does not have one value for each device");
    const auto negative = [](ticks x) { return x < 0; };
    if (negative(m_.makespan) || negative(m_.period) || negative(m_.lower_bound) ||
        std::any_of(m_.spans.begin(), m_.spans.end(), negative) ||
        std::any_of(m_.peak_memory.begin(), m_.peak_memory.end(), negative))
      return x_.fail("one of its metrics is negative");
    if (!is_share(m_.bubble_ratio)) return x_.fail("its bubble_ratio is no share");
    if (!is_share(m_.utilization)) return x_.fail("its utilization is no share");
    for (const double interval : m_.refresh_interval)
      if (!(interval >= 0)) return x_.fail("a refresh_interval is no number of steps");
    if (m_.makespan > 0 && m_.lower_bound > m_.makespan)
      return x_.fail(text("its makespan is ", m_.makespan, ", below its lower bound ", m_.lower_bound));
    return p_.timeline.empty() || check_times();
  }

 private:
  static bool is_share(double x) { return x >= 0 && x <= 1; }
  /// Ratios are written with 17 digits and summed in another order here.
  static bool is_near(double x, double y) { return x - y < 1e-9 && y - x < 1e-9; }

  bool check_times() {
    struct extent {
      ticks start = longest_schedule, end = 0;
    };
    std::vector<extent> rows(static_cast<std::size_t>(p_.shape.devices));
    extent all;
    double pipeline = 0;
    for (const timed_action& a : p_.timeline) {
      if (a.step > 0 || !is_pipeline_action(a.what.kind)) continue;
      pipeline += static_cast<double>(a.time.length());
      for (extent* e : {&rows[a.device.at()], &all}) {
        e->start = std::min(e->start, a.time.start);
        e->end = std::max(e->end, a.time.end);
      }
    }
    const ticks makespan = all.end - all.start;
    if (m_.makespan > 0 && m_.makespan != makespan)
      return x_.fail(text("its makespan is ", m_.makespan, ", by the timeline it is ", makespan));
    for (std::size_t d = 0; d < m_.spans.size(); ++d) {
      const ticks span = std::max<ticks>(rows[d].end - rows[d].start, 0);
      if (m_.spans[d] != span)
        return x_.fail(text("the span of device ", d, " is ", m_.spans[d], ", by the timeline it is ", span),
                       {.device = static_cast<std::int32_t>(d)});
    }
    ticks longest = 0;
    for (const extent& row : rows) longest = std::max(longest, row.end - row.start);
    if (m_.period != 0 && (m_.period < longest || m_.period > makespan))
      return x_.fail(text("its period is ", m_.period, "; expected ", longest, " (the longest span) … ", makespan));
    const double devices = p_.shape.devices;
    if (m_.lower_bound > makespan)
      return x_.fail(text("its makespan is ", makespan, ", below its lower bound ", m_.lower_bound));
    const bool stated = m_.makespan > 0 || m_.bubble_ratio != 0;
    if (makespan > 0 && stated && !is_near(1 - m_.bubble_ratio, pipeline / (devices * static_cast<double>(makespan))))
      return x_.fail("its bubble_ratio is not that of its timeline");
    if (m_.utilization > 0 && !is_near(m_.utilization, used_share(p_)))
      return x_.fail("its utilization is not that of its timeline");
    return true;
  }

  plan_index& x_;
  const plan& p_;
  const plan_metrics& m_;
};

}  // namespace brim::detail
