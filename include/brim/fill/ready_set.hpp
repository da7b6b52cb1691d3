// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// A set of small integers that finds its first member from a position on in O(log64 size): a bit for each member, and
/// on each further level a bit for each word of the level below that is not empty.
class ready_set {
 public:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  constexpr explicit ready_set(std::size_t size = 0) {
    do {
      size = (size + 63) / 64;
      levels_.emplace_back(size, 0);
    } while (size > 1);
  }

  constexpr void insert(std::size_t at) {
    for (std::vector<std::uint64_t>& level : levels_) {
      level[at / 64] |= bit(at);
      at /= 64;
    }
  }
  constexpr void erase(std::size_t at) {
    for (std::vector<std::uint64_t>& level : levels_) {
      level[at / 64] &= ~bit(at);
      if (level[at / 64] != 0) return;
      at /= 64;
    }
  }

  /// The least member that is at least `from`; `none` where there is none.
  [[nodiscard]] constexpr std::size_t first_from(std::size_t from) const {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      if (from / 64 >= levels_[level].size()) return none;
      const std::uint64_t rest = levels_[level][from / 64] & (~std::uint64_t{0} << (from % 64));
      if (rest != 0) return descend(level, from / 64 * 64 + lowest(rest));
      from = from / 64 + 1;
    }
    return none;
  }

  /// The greatest member; `none` where there is none.
  [[nodiscard]] constexpr std::size_t last() const {
    if (levels_.back()[0] == 0) return none;
    std::size_t at = 0;
    for (std::size_t level = levels_.size(); level-- > 0;)
      at = at * 64 + 63 - static_cast<std::size_t>(__builtin_clzll(levels_[level][at]));
    return at;
  }

 private:
  [[nodiscard]] static constexpr std::uint64_t bit(std::size_t at) { return std::uint64_t{1} << (at % 64); }
  [[nodiscard]] static constexpr std::size_t lowest(std::uint64_t word) {
    return static_cast<std::size_t>(__builtin_ctzll(word));
  }

  [[nodiscard]] constexpr std::size_t descend(std::size_t level, std::size_t at) const {
    while (level > 0) {
      --level;
      at = at * 64 + lowest(levels_[level][at]);
    }
    return at;
  }

  std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace brim::detail
