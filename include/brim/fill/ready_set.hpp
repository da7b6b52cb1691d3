// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace brim::detail {

/// A set of small integers that finds its first member from a position on in constant time for practical sizes: a bit a
/// member and a bit for every 64 of those.
class ready_set {
 public:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  constexpr explicit ready_set(std::size_t size = 0) : bits_((size + 63) / 64), blocks_((bits_.size() + 63) / 64) {}

  constexpr void insert(std::size_t at) {
    bits_[at / 64] |= bit(at);
    blocks_[at / 4096] |= bit(at / 64);
  }
  constexpr void erase(std::size_t at) {
    if ((bits_[at / 64] &= ~bit(at)) == 0) blocks_[at / 4096] &= ~bit(at / 64);
  }

  /// The least member that is at least `from`; `none` where there is none.
  [[nodiscard]] constexpr std::size_t first_from(std::size_t from) const {
    std::size_t word = from / 64;
    if (word >= bits_.size()) return none;
    const std::uint64_t here = bits_[word] & (~std::uint64_t{0} << (from % 64));
    if (here != 0) return word * 64 + lowest(here);
    if (++word >= bits_.size()) return none;
    std::size_t block = word / 64;
    std::uint64_t words = blocks_[block] & (~std::uint64_t{0} << (word % 64));
    while (words == 0) {
      if (++block >= blocks_.size()) return none;
      words = blocks_[block];
    }
    word = block * 64 + lowest(words);
    return word * 64 + lowest(bits_[word]);
  }

 private:
  [[nodiscard]] static constexpr std::uint64_t bit(std::size_t at) { return std::uint64_t{1} << (at % 64); }
  [[nodiscard]] static constexpr std::size_t lowest(std::uint64_t word) { return static_cast<std::size_t>(std::countr_zero(word)); }

  std::vector<std::uint64_t> bits_;
  std::vector<std::uint64_t> blocks_;  ///< bit `w`: `bits_[w]` is not empty
};

}  // namespace brim::detail
