// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>
#include <brim/core/error.hpp>

#include <string>
#include <string_view>

#if BRIM_HAS_EXCEPTIONS
namespace test_support {

/// The error that `run` stops with; a failed test where there is none.
template <class Run>
brim::error error_of(Run run) {
  try {
    run();
  } catch (const brim::error& e) {
    return e;
  }
  FAIL("no error");
  return {brim::error_code::io_failure, ""};
}

/// Whether the error has this code and every one of these texts.
template <class... Texts>
bool matches(const brim::error& e, brim::error_code code, const Texts&... texts) {
  const std::string_view what = e.what();
  return e.code() == code && ((what.find(texts) != std::string_view::npos) && ...);
}

/// `matches`, and shows the error where it does not.
template <class... Texts>
bool says(const brim::error& e, brim::error_code code, const Texts&... texts) {
  if (matches(e, code, texts...)) return true;
  MESSAGE(brim::name_of(e.code()) << ": " << e.what());
  return false;
}

}  // namespace test_support
#endif
