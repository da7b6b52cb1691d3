// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/model/action.hpp>

#include <array>

namespace brim::io {

/// The letters of `ascii_grid`. Capitals are the pipeline's own actions, small letters what an optimizer adds.
/// Other dialects (PyTorch's, the papers') have tables of their own: the same letter means something else there.
struct letter_table {
  std::array<char, action_kind_count> of_kind{'F', 'B', 'I', 'W', 'R', 'O', 's', 'x', 'i',
                                              'y', 'p', 'g', 'n', '>', '<', '}', '{', 'u'};
  char statistic_a = 'a';  ///< input side
  char statistic_b = 'b';  ///< output side
  char idle = '.';
  char goes_on = '-';  ///< the rest of an action that is longer than its label

  [[nodiscard]] constexpr char of(const action& what) const {
    if (what.kind == action_kind::statistic && what.side == side::a) return statistic_a;
    if (what.kind == action_kind::statistic && what.side == side::b) return statistic_b;
    return of_kind[static_cast<std::size_t>(what.kind)];
  }
  friend constexpr bool operator==(const letter_table&, const letter_table&) = default;
};

}  // namespace brim::io
