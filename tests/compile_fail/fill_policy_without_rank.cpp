// SPDX-License-Identifier: Apache-2.0
// expect: fill_policy: age and before(batch, batch), or choose(bubble, ready)
#include <brim/brim.hpp>

struct mine {
  static constexpr std::string_view name = "mine";
  static constexpr brim::age_rule age = brim::age_rule::oldest_first;
  brim::refresh_discipline discipline = brim::refresh_discipline::staggered;
#ifndef NEGATIVE
  bool before(const brim::work_batch& a, const brim::work_batch& b) const { return a.duration < b.duration; }
#endif
};

brim::filled use(const brim::timeline& pipeline, const brim::profile& profile) {
  return brim::fill(pipeline, brim::kfac_work{profile}, mine{});
}
