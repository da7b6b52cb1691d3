// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The one place that knows the version of brim: major * 10000 + minor * 100 + patch. CMake reads this line.
#define BRIM_VERSION 100

namespace brim {

inline constexpr int version_major = BRIM_VERSION / 10000;
inline constexpr int version_minor = BRIM_VERSION / 100 % 100;
inline constexpr int version_patch = BRIM_VERSION % 100;

}  // namespace brim
