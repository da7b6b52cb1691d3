// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/config.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace brim {

/// What kind of thing went wrong. Each is a *stable* name that programs may switch on; the sentence is for people.
enum class error_code : std::uint8_t {
  bad_shape,      ///< the shape itself makes no sense (zero devices, too many actions)
  refused_shape,  ///< the scheme does not exist for this shape; the message names the rule
  bad_profile,    ///< the profile does not fit the request or holds an impossible value
  bad_order,      ///< an order that is not a schedule: an action twice, missing, or on the wrong device
  deadlock,       ///< an order (or a plan under its transport) that can never finish
  over_memory,    ///< a device's memory limit is not respected
  item_too_long,  ///< a piece of optional work fits no bubble and may not be cut
  no_fill,        ///< optional work cannot be placed for another reason
  bad_plan,       ///< `verify` found a fault in a plan
  bad_file,       ///< unreadable input: the message gives the field path, the value and what was expected
  io_failure,     ///< the operating system refused to read or write
};

/// The code as text, e.g. `"refused_shape"`.
[[nodiscard]] constexpr std::string_view name_of(error_code code) {
  switch (code) {
    case error_code::bad_shape: return "bad_shape";
    case error_code::refused_shape: return "refused_shape";
    case error_code::bad_profile: return "bad_profile";
    case error_code::bad_order: return "bad_order";
    case error_code::deadlock: return "deadlock";
    case error_code::over_memory: return "over_memory";
    case error_code::item_too_long: return "item_too_long";
    case error_code::no_fill: return "no_fill";
    case error_code::bad_plan: return "bad_plan";
    case error_code::bad_file: return "bad_file";
    case error_code::io_failure: return "io_failure";
  }
  return "unknown";
}

/// Where an error happened; −1 where that has no meaning.
struct error_site {
  std::int32_t device = -1;
  std::int32_t step = -1;
  std::int32_t stage = -1;
  std::int32_t microbatch = -1;
  std::int32_t layer = -1;

  friend constexpr bool operator==(const error_site&, const error_site&) = default;
};

/// Bad input, an impossible request, or a wrong plan.
class error : public std::runtime_error {
 public:
  error(error_code code, const std::string& sentence, error_site site = {})
      : std::runtime_error(sentence),
        code_(code),
        site_(site) {}

  [[nodiscard]] error_code code() const noexcept { return code_; }
  [[nodiscard]] const error_site& site() const noexcept { return site_; }

 private:
  error_code code_;
  error_site site_;
};

/// Called instead of a throw in programs built without exceptions. It must not return; the default prints the
/// sentence to standard error and aborts.
using failure_handler = void (*)(const error&);

namespace detail {
inline failure_handler current_failure_handler = [](const error& e) {
  std::fprintf(stderr, "brim: %s\n", e.what());
  std::abort();
};
}  // namespace detail

/// Replaces the failure handler; gives the old one back. Not thread-safe: call it before using brim.
inline failure_handler set_failure_handler(failure_handler handler) {
  return std::exchange(detail::current_failure_handler, handler);
}

/// Reports an error: throws it, or calls the failure handler in a build without exceptions.
[[noreturn]] inline void raise(error_code code, const std::string& sentence, error_site site = {}) {
#if BRIM_HAS_EXCEPTIONS
  throw error(code, sentence, site);
#else
  detail::current_failure_handler(error(code, sentence, site));
  std::abort();
#endif
}

}  // namespace brim
