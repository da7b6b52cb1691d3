// SPDX-License-Identifier: Apache-2.0
// expect: work_source: source.work(timeline_view, cut_limits) -> work_set
#include <brim/brim.hpp>

struct nothing_to_do {
#ifndef NEGATIVE
  brim::work_set work(const brim::timeline_view&, const brim::cut_limits&) const { return {}; }
#endif
};

brim::filled use(const brim::timeline& pipeline) { return brim::fill(pipeline, nothing_to_do{}); }
