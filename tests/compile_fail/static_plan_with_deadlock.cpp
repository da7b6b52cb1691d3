// SPDX-License-Identifier: Apache-2.0
// expect: raise_deadlock
#include <brim/schedule/static_plan.hpp>

struct mine {
  static constexpr std::string_view name = "mine";
  constexpr void order(const brim::pipeline_shape&, brim::device_index d, auto& out) const {
    const brim::stage_index s = brim::stage_of(d);
    const brim::microbatch_index m(0);
#ifndef NEGATIVE
    out.forward(s, m), out.backward(s, m);
#else
    out.backward(s, m), out.forward(s, m);
#endif
  }
};

constexpr auto plan =
    brim::static_plan<mine{}, brim::pipeline_shape{.devices = 2, .microbatches = 1}>(brim::uniform_cost{});
