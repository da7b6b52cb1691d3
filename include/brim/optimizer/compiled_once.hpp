// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace brim::detail {

/// Runs `work()`, whose machine code exists once in a program however often it is called. A compiler may fuse a product and a
/// sum into one rounding (`-ffp-contract`) and may choose differently for each copy that it inlines. What has to come out
/// the same to the last bit twice therefore runs the same instructions twice.
template <class Work>
#if defined(__clang__)
[[gnu::noinline]]
#else
[[gnu::noipa]]
#endif
void compiled_once(const Work& work) {
  work();
}

}  // namespace brim::detail
