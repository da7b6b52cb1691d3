// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/order.hpp>

#include <algorithm>

namespace brim::schemes {

/// Walks the (chunk, microbatch) pairs of a device whose chunk `c` is stage `c · devices + device`: group by group, chunk by
/// chunk, microbatch by microbatch. There are max(1, microbatches div group) groups, whose sizes differ by at most one.
class chunk_walk {
 public:
  enum class direction : std::uint8_t { forward, backward };

  constexpr chunk_walk(const pipeline_shape& shape, device_index device, std::int32_t group, direction way)
      : shape_(shape),
        device_(device),
        groups_(std::max(1, shape.microbatches / group)),
        way_(way) {}

  [[nodiscard]] constexpr stage_index stage() const {
    const std::int32_t chunk = way_ == direction::forward ? chunk_ : shape_.chunks - 1 - chunk_;
    return stage_index(chunk * shape_.devices + device_.value);
  }
  [[nodiscard]] constexpr microbatch_index microbatch() const { return microbatch_index(group_begin_ + inside_); }
  [[nodiscard]] constexpr std::int32_t largest_group() const { return (shape_.microbatches + groups_ - 1) / groups_; }
  constexpr void advance() {
    if (++inside_ < group_size()) return;
    inside_ = 0;
    if (++chunk_ < shape_.chunks) return;
    chunk_ = 0;
    group_begin_ += group_size();
    ++group_;
  }

 private:
  [[nodiscard]] constexpr std::int32_t group_size() const {
    return shape_.microbatches / groups_ + (group_ < shape_.microbatches % groups_ ? 1 : 0);
  }

  pipeline_shape shape_;
  device_index device_;
  std::int32_t groups_;
  direction way_;
  std::int32_t group_ = 0, group_begin_ = 0, chunk_ = 0, inside_ = 0;
};

}  // namespace brim::schemes
