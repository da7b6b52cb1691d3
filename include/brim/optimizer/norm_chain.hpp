// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/optimizer/tensor.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace brim {

/// What is known of the global state of a step: the sum of squares of the gradients of the stages so far, and whether one
/// of them overflowed. It travels down the stages, each adds its own (`merge`), and the value of the last stage, which is
/// complete, goes back to all. 16 bytes; send both fields.
/// Source: Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 4.
struct norm_chain {
  double squares = 0;     ///< in units of the gradient squared
  bool overflow = false;  ///< an element was infinite or not a number, or the sum does not fit a double

  [[nodiscard]] double norm() const { return std::sqrt(squares); }
  friend constexpr bool operator==(const norm_chain&, const norm_chain&) = default;
};

namespace detail {

/// Sums of squares in eight lanes, each in the order of the elements: an order that a compiler may vectorise without changing
/// it, and the same on every machine. The square of a float is exact in double.
class square_sum {
 public:
  template <scalar Scalar>
  void add(std::span<const Scalar> values) {
    std::size_t i = 0;
    for (; i + lanes <= values.size(); i += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) add_to(lane, static_cast<double>(values[i + lane]));
    for (std::size_t lane = 0; i < values.size(); ++i, ++lane) add_to(lane, static_cast<double>(values[i]));
  }

  [[nodiscard]] double total() const {
    return ((sums_[0] + sums_[4]) + (sums_[2] + sums_[6])) + ((sums_[1] + sums_[5]) + (sums_[3] + sums_[7]));
  }

 private:
  static constexpr std::size_t lanes = 8;
  void add_to(std::size_t lane, double value) { sums_[lane] += value * value; }

  std::array<double, lanes> sums_{};
};

}  // namespace detail

/// Two parts of a chain, the earlier one first. Not associative, as sums of doubles are not: everybody who wants the same
/// bits has to fold the stages from first to last, which a chain does by itself.
[[nodiscard]] constexpr norm_chain merge(const norm_chain& earlier, const norm_chain& own) {
  const double squares = earlier.squares + own.squares;
  const bool finite = squares - squares == 0;
  return {.squares = squares, .overflow = earlier.overflow || own.overflow || !finite};
}

/// The part of one tensor of gradients. Of float it is summed in double and cannot overflow by itself; a double above
/// 1.3e154 has no square and counts as an overflow. Linear in the elements; allocates nothing.
template <scalar Scalar>
[[nodiscard]] norm_chain norm_of(std::span<const Scalar> gradient) {
  detail::square_sum sum;
  sum.add(gradient);
  return merge({}, {.squares = sum.total()});
}

/// The complete value from the parts of all stages, first to last: what a barrier computes from gathered parts. It has the
/// same bits as the end of a chain.
[[nodiscard]] constexpr norm_chain merge_all(std::span<const norm_chain> stages) {
  norm_chain all;
  for (const norm_chain& own : stages) all = merge(all, own);
  return all;
}

}  // namespace brim
