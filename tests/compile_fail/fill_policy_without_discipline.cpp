// SPDX-License-Identifier: Apache-2.0
// expect: fill_policy: refresh_discipline discipline
#include <brim/brim.hpp>

struct mine {
  static constexpr std::string_view name = "mine";
  static constexpr brim::age_rule age = brim::age_rule::oldest_first;
#ifndef NEGATIVE
  brim::refresh_discipline discipline = brim::refresh_discipline::staggered;
#endif
  bool before(const brim::work_batch& a, const brim::work_batch& b) const { return a.duration < b.duration; }
};

brim::filled use(const brim::timeline& pipeline, const brim::profile& profile) {
  return brim::fill(pipeline, brim::kfac_work{profile}, mine{});
}
