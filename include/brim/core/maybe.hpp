// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/config.hpp>

#include <utility>

namespace brim {

/// A value or nothing, for types that can be default-constructed: the part of `std::optional` that brim needs, without
/// its thousand preprocessed lines in every program that includes brim. Reading a value that is not there is a
/// programming error.
template <class T>
class maybe {
 public:
  constexpr maybe() = default;
  constexpr maybe(T value)
      : value_(std::move(value)),
        there_(true) {}  // NOLINT(google-explicit-constructor): as std::optional

  [[nodiscard]] constexpr explicit operator bool() const { return there_; }
  [[nodiscard]] constexpr const T& operator*() const {
    BRIM_EXPECT(there_);
    return value_;
  }
  [[nodiscard]] constexpr const T* operator->() const {
    BRIM_EXPECT(there_);
    return &value_;
  }
  friend constexpr bool operator==(const maybe&, const maybe&) = default;

 private:
  T value_{};
  bool there_ = false;
};

}  // namespace brim
