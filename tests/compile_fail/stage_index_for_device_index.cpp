// SPDX-License-Identifier: Apache-2.0
// expect: device_index
#include <brim/schedule/metrics.hpp>

brim::ticks use(const brim::timeline& t) {
#ifndef NEGATIVE
  return brim::span_of(t, brim::device_index(1));
#else
  return brim::span_of(t, brim::stage_index(1));
#endif
}
