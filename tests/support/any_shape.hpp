// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data.hpp"

#include <rapidcheck.h>

#include <string>
#include <tuple>

namespace test_support {

/// A random shape within `most` that the scheme of that name accepts.
inline brim::pipeline_shape any_shape(const std::string& scheme, const brim::pipeline_shape& most) {
  const auto up_to = [](std::int32_t last) { return rc::gen::inRange(1, last + 1); };
  return *rc::gen::suchThat(
      rc::gen::map(rc::gen::tuple(up_to(most.devices), up_to(most.microbatches), up_to(most.chunks), up_to(most.pairs)),
                   [](const std::tuple<int, int, int, int>& drawn) {
                     const auto [devices, microbatches, chunks, pairs] = drawn;
                     return brim::pipeline_shape{devices, microbatches, chunks, pairs};
                   }),
      [scheme](const brim::pipeline_shape& shape) { return accepts(scheme, shape); });
}

/// The name of any scheme.
inline std::string any_scheme() {
  const std::vector<std::string> names = scheme_names();
  return names[*rc::gen::inRange<std::size_t>(0, names.size())];
}

}  // namespace test_support
