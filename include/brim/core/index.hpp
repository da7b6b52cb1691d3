// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace brim {

/// An index that cannot be mistaken for another one: a `stage_index` does not convert to a `device_index`.
/// `Rep` is the stored integer; −1 means "none".
template <class Tag, class Rep = std::int32_t>
struct basic_index {
  Rep value = 0;

  constexpr basic_index() = default;
  constexpr explicit basic_index(std::int64_t v) : value(static_cast<Rep>(v)) {}

  /// The index as a position in an array.
  [[nodiscard]] constexpr std::size_t at() const { return static_cast<std::size_t>(value); }
  constexpr basic_index& operator++() {
    value = static_cast<Rep>(value + 1);
    return *this;
  }
  friend constexpr auto operator<=>(const basic_index&, const basic_index&) = default;
};

using device_index = basic_index<struct device_tag>;
using stage_index = basic_index<struct stage_tag>;
using microbatch_index = basic_index<struct microbatch_tag>;
using layer_index = basic_index<struct layer_tag>;
using route_index = basic_index<struct route_tag, std::int16_t>;

/// The half-open range `[0, count)` of an index type, for range-based loops.
template <class Index>
class index_range {
 public:
  class iterator {
   public:
    constexpr explicit iterator(Index at) : at_(at) {}
    constexpr Index operator*() const { return at_; }
    constexpr iterator& operator++() {
      ++at_;
      return *this;
    }
    friend constexpr bool operator==(const iterator&, const iterator&) = default;

   private:
    Index at_;
  };

  constexpr explicit index_range(std::int64_t count) : count_(count) {}
  [[nodiscard]] constexpr iterator begin() const { return iterator(Index(0)); }
  [[nodiscard]] constexpr iterator end() const { return iterator(Index(count_)); }

 private:
  std::int64_t count_;
};

}  // namespace brim
