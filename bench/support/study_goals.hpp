// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fill_quality.hpp"
#include "study_runs.hpp"

#include <cstdio>
#include <string>

namespace bench {

/// What the fill has to reach on every case: the worst that was seen, and where.
class study_goals {
 public:
  void add(const std::string& name, const study_run& run) {
    if (!run.table) {
      missing_ += " " + name + ";";
      return;
    }
    ++cases_;
    below_.see(points_below_bound(*run.table), name);
    const age_excess age = worst_age(*run.table);
    age_.see(age.age - age.limit, name);
    if (run.one_shot && run.one_shot->kept > 0)
      kept_.see(static_cast<double>(run.table->kept) / static_cast<double>(run.one_shot->kept), name);
  }

  void print() const {
    std::printf("The table form over %d cases:\n", cases_);
    print_line("points below the bound, goal at most 0.6", below_, 0.6);
    print_line("greatest age beyond ceil(load) + 2, goal at most 0", age_, 0);
    print_line("kept memory / that of the one-shot plan, goal at most 1", kept_, 1);
    if (!missing_.empty()) std::printf("  refused:%s\n", missing_.c_str());
    std::printf("\n");
  }

 private:
  struct worst {
    double value = 0;
    std::string name;
    void see(double candidate, const std::string& where) {
      if (!name.empty() && candidate <= value) return;
      value = candidate;
      name = where;
    }
  };

  static void print_line(const char* what, const worst& seen, double goal) {
    if (seen.name.empty()) return;
    if (seen.value <= goal)
      std::printf("  %-56s worst %6.2f  met     (%s)\n", what, seen.value, seen.name.c_str());
    else
      std::printf("  %-56s worst %6.2f  MISSED by %.2f  (%s)\n", what, seen.value, seen.value - goal,
                  seen.name.c_str());
  }

  worst below_, age_, kept_;
  int cases_ = 0;
  std::string missing_;
};

}  // namespace bench
