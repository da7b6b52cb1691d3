// SPDX-License-Identifier: Apache-2.0
// expect: raise_refused
#include <brim/schedule/static_plan.hpp>
#include <brim/scheme/chimera.hpp>

#ifndef NEGATIVE
constexpr brim::pipeline_shape shape{.devices = 4, .microbatches = 4};
#else
constexpr brim::pipeline_shape shape{.devices = 5, .microbatches = 4};  // an odd number of devices
#endif

constexpr auto plan = brim::static_plan<brim::schemes::chimera{}, shape>(brim::uniform_cost{});
