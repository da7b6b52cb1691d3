// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/io/read_profile.hpp>
#include <brim/model/profile.hpp>

#include <string>

namespace bench {

/// A profile of `examples/profiles`, by its file's name.
inline brim::profile published_profile(const std::string& name) {
  return brim::io::read_profile(std::string(EXAMPLES) + "/profiles/" + name + ".json");
}

}  // namespace bench
