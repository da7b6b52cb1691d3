// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace brim::detail {

/// Pseudo-random numbers that are the same on every machine and compiler (SplitMix64, Steele, Lea and Flood, OOPSLA 2014).
class random_numbers {
 public:
  explicit constexpr random_numbers(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  /// Uniform in [0, count), up to a bias of count / 2^32. Pre: 1 <= count <= 2^31.
  constexpr std::int32_t below(std::int32_t count) {
    return static_cast<std::int32_t>(((next() >> 32U) * static_cast<std::uint64_t>(count)) >> 32U);
  }
  /// True `percent` times in a hundred.
  constexpr bool chance(std::int32_t percent) { return below(100) < percent; }
  /// −log2 of a uniform number, in units of 2^−16, from leading zeros and linear in between: the exponential waiting times
  /// that an annealing accepts by, without a logarithm that differs between machines.
  constexpr std::int64_t waiting() {
    const std::uint64_t bits = next() | 1U;
    const int zeros = std::countl_zero(bits);
    const std::uint64_t fraction = ((bits << static_cast<unsigned>(zeros)) << 1U) >> 48U;
    return ((std::int64_t{zeros} + 1) << 16) - static_cast<std::int64_t>(fraction);
  }

 private:
  std::uint64_t state_;
};

/// heat × share / 1024, rounded down, also where the product would not fit.
[[nodiscard]] constexpr std::int64_t part_of_heat(std::int64_t heat, std::int64_t share) {
  return heat / 1024 * share + heat % 1024 * share / 1024;
}

}  // namespace brim::detail
