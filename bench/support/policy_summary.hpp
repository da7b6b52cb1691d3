// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fill_quality.hpp"
#include "table.hpp"

#include <brim/fill/filled.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What a policy did over a set of cases.
class policy_summary {
 public:
  explicit policy_summary(std::string_view policy) : policy_(policy) {}

  void add(std::string_view name, const brim::fill_report& report, double placing_nanoseconds, double search_seconds) {
    if (below_.empty() || points_below_bound(report) > greatest(below_)) worst_case_ = name;
    below_.push_back(points_below_bound(report));
    if (report.load > 0) stretch_.push_back(report.refresh_interval / std::max(1.0, report.load));
    kept_.push_back(mebibytes(report.kept));
    placing_.push_back(placing_nanoseconds);
    search_.push_back(1e3 * search_seconds);
    const age_excess age = worst_age(report);
    if (age.age > age.limit) ++too_old_;
    if (below_.back() > 0.6) ++loose_;
  }
  void refuse() { ++refused_; }

  void write(table& out, std::string_view set) const {
    if (below_.empty() && refused_ == 0) return;
    out.add({set, policy_, below_.size(), refused_, mean(below_), greatest(below_), loose_, mean(stretch_),
             greatest(stretch_), too_old_, mean(kept_), median(placing_), mean(search_), greatest(search_),
             worst_case_});
  }

 private:
  static double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double v : values) sum += v;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
  }
  static double greatest(const std::vector<double>& values) {
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  }
  static double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }

  std::string_view policy_;
  std::string worst_case_;
  std::vector<double> below_;
  std::vector<double> stretch_;
  std::vector<double> kept_;
  std::vector<double> placing_;
  std::vector<double> search_;
  int loose_ = 0;
  int too_old_ = 0;
  int refused_ = 0;
};

inline table summary_table() {
  return {"By policy",
          {{"set", "set"},
           {"policy", "policy"},
           {"cases", "cases"},
           {"refused", "refused"},
           {"mean_points_below_bound", "below, mean", 2},
           {"worst_points_below_bound", "worst", 2},
           {"cases_more_than_0.6_below", "> 0.6"},
           {"mean_interval_over_load", "interval/load, mean", 2},
           {"worst_interval_over_load", "worst", 2},
           {"cases_over_age_limit", "too old"},
           {"mean_kept_mebibytes", "kept MiB, mean", 0},
           {"median_nanoseconds_a_piece", "ns/piece, median", 1},
           {"mean_search_milliseconds", "search ms, mean", 2},
           {"worst_search_milliseconds", "worst", 2},
           {"worst_case", "farthest below"}}};
}

}  // namespace bench
