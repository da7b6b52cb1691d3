// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data.hpp"

#include <string_view>

namespace test_support {

/// `with_scheme`, and the plain building blocks by the names `v-half-stamped` and `v-min-stamped`.
template <class Use>
auto with_scheme_or_block(std::string_view name, Use use) {
  if (name == "v-half-stamped") return use(brim::schemes::v_half{brim::schemes::block_form::stamped});
  if (name == "v-min-stamped") return use(brim::schemes::v_min{brim::schemes::block_form::stamped});
  return with_scheme(name, use);
}

}  // namespace test_support
