// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether brim reports bad input by throwing `brim::error`. Without exceptions the same report goes to the
/// failure handler of `core/error.hpp`, which does not return.
#ifndef BRIM_HAS_EXCEPTIONS
#if defined(__cpp_exceptions)
#define BRIM_HAS_EXCEPTIONS 1
#else
#define BRIM_HAS_EXCEPTIONS 0
#endif
#endif

/// Checks what only a programming error can break; usable in constant expressions, where a broken expectation
/// stops the compilation. Define it before the first brim header to send violations elsewhere.
#ifndef BRIM_EXPECT
#define BRIM_EXPECT(condition) ((condition) ? static_cast<void>(0) : ::brim::detail::expectation_failed(#condition))
#endif

namespace brim::detail {

/// Not constexpr on purpose: reaching it while evaluating a constant expression is the diagnostic.
[[noreturn]] inline void expectation_failed(const char* condition) {
  static_cast<void>(condition);
  __builtin_trap();
}

}  // namespace brim::detail
