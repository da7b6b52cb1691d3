// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>

namespace brim::detail {

/// Values that compare one after the other. What `std::tuple` would do here, at a hundredth of its preprocessed lines.
template <class... Parts>
struct sort_key {
  friend constexpr auto operator<=>(const sort_key&, const sort_key&) = default;
};

template <class First, class... Rest>
struct sort_key<First, Rest...> {
  First first;
  sort_key<Rest...> rest;

  constexpr explicit sort_key(First f, Rest... r) : first(f), rest(r...) {}
  friend constexpr auto operator<=>(const sort_key&, const sort_key&) = default;
};

template <class... Parts>
sort_key(Parts...) -> sort_key<Parts...>;

}  // namespace brim::detail
