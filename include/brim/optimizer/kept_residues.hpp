// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/config.hpp>
#include <brim/optimizer/tensor.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace brim {

/// An undo log of one byte a parameter. The inverse (after + update) / shrink comes within a few units in the last place of
/// the old parameter: the byte says how many. Where rounding has destroyed more (a parameter much smaller than its update, a
/// negative zero, an update that is not finite) the old value itself is kept, in a part of fixed size.
/// Without room left there the step is postponed; `spilled()` tells how much of it the last step took.
template <scalar Scalar>
class kept_residues {
 public:
  static constexpr bool needs_updates = true;

  /// By default room for one in 64 parameters, and at least 16: 1 + sizeof(Scalar) / 64 bytes a parameter.
  explicit kept_residues(std::size_t parameters) : kept_residues(parameters, parameters / 64 + 16) {}
  /// With room for `whole_values` parameters that are kept as they are; `parameters` of them is never too little.
  kept_residues(std::size_t parameters, std::size_t whole_values) : residues_(parameters), whole_(whole_values) {}

  bool record(std::size_t first, std::span<const Scalar> before, std::span<const Scalar> after,
              std::span<const Scalar> updates, Scalar shrink) {
    if (first == 0) used_ = 0;
    const std::span<std::int8_t> out = std::span(residues_).subspan(first, before.size());
    const Scalar grow = 1 / shrink;
    std::size_t wide = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const Scalar guess = (after[i] + updates[i]) * grow;
      const word distance = std::bit_cast<word>(before[i]) - std::bit_cast<word>(guess);
      const bool narrow = (distance + greatest <= 2 * greatest) & (guess == guess);
      out[i] = narrow ? static_cast<std::int8_t>(distance) : whole_value;
      wide += narrow ? 0 : 1;
    }
    if (wide > whole_.size() - used_) return false;
    if (wide == 0) return true;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (out[i] == whole_value) whole_[used_++] = before[i];
    return true;
  }

  void restore(std::size_t first, std::span<Scalar> parameters, std::span<const Scalar> updates, Scalar shrink) {
    if (first == 0) read_ = 0;
    const std::span<const std::int8_t> kept = std::span(residues_).subspan(first, parameters.size());
    const Scalar grow = 1 / shrink;
    bool wide = false;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Scalar guess = (parameters[i] + updates[i]) * grow;
      parameters[i] = std::bit_cast<Scalar>(std::bit_cast<word>(guess) + static_cast<word>(kept[i]));
      wide |= kept[i] == whole_value;
    }
    if (!wide) return;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (kept[i] == whole_value) parameters[i] = whole_[read_++];
  }

  /// How many parameters the last step kept as they were.
  [[nodiscard]] std::size_t spilled() const { return used_; }

 private:
  using word = std::conditional_t<sizeof(Scalar) == 4, std::uint32_t, std::uint64_t>;
  static constexpr word greatest = 127;
  static constexpr std::int8_t whole_value = -128;

  std::vector<std::int8_t> residues_;
  std::vector<Scalar> whole_;
  std::size_t used_ = 0;
  std::size_t read_ = 0;
};

}  // namespace brim
