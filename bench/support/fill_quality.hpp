// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/fill/filled.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace bench {

/// How far the oldest result of a device is from what one may ask for: the least number of steps in which the bubbles can
/// hold a refresh of everything, and two more.
struct age_excess {
  std::int32_t age = 0;
  std::int32_t limit = 0;
};

/// Of the device on which age − limit is greatest.
inline age_excess worst_age(const brim::fill_report& report) {
  age_excess worst;
  bool first = true;
  for (const brim::device_report& device : report.devices) {
    const age_excess here{device.greatest_age, static_cast<std::int32_t>(std::ceil(std::min(device.load, 1e6))) + 2};
    if (first || here.age - here.limit > worst.age - worst.limit) worst = here;
    first = false;
  }
  return worst;
}

inline double percent(double ratio) { return 100 * ratio; }
inline double points_below_bound(const brim::fill_report& report) { return percent(report.bound - report.utilization); }
inline double mebibytes(brim::bytes amount) { return static_cast<double>(amount) / (1024.0 * 1024.0); }

}  // namespace bench
