// SPDX-License-Identifier: Apache-2.0
#include <brim/brim.hpp>
#include <brim/version.hpp>

static_assert(BRIM_VERSION == brim::version_major * 10000 + brim::version_minor * 100 + brim::version_patch);

int main() { return 0; }
