// SPDX-License-Identifier: Apache-2.0
// expect: operator==
#include <brim/model/shape.hpp>

bool use(brim::stage_index s, brim::device_index d) {
#ifndef NEGATIVE
  return s == brim::stage_of(d);
#else
  return s == d;
#endif
}
