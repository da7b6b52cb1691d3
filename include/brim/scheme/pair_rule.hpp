// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/order.hpp>

#include <algorithm>

namespace brim::schemes {

/// The microbatches of one stage, in order.
struct stage_walk {
  stage_index here{0};
  std::int32_t next = 0;

  [[nodiscard]] constexpr stage_index stage() const { return here; }
  [[nodiscard]] constexpr microbatch_index microbatch() const { return microbatch_index(next); }
  constexpr void advance() { ++next; }
};

/// A device's forwards and backwards in turn, after some forwards to warm up: what 1F1B and its relatives share. Walks say
/// which microbatch of which stage is the next one. Complexity: linear.
struct pair_rule {
  std::int32_t warm_up = 0;  ///< forwards before the first pair; where there are fewer in all, all of them
  backward_form form = backward_form::whole;
  std::int32_t held_back = 0;  ///< weight halves that wait while the pairs go on; the oldest runs first

  /// `count` forwards and as many backwards.
  template <class Walk>
  constexpr void order(std::int32_t count, Walk forwards, Walk backwards, auto& out) const {
    const std::int32_t ahead = std::min(count, warm_up);
    Walk weights = backwards;
    for (std::int32_t k = 0; k < count + ahead; ++k) {
      if (k < count) {
        out.forward(forwards.stage(), forwards.microbatch());
        forwards.advance();
      }
      if (k < ahead) continue;
      if (form == backward_form::whole) {
        out.backward(backwards.stage(), backwards.microbatch());
      } else {
        out.backward_input(backwards.stage(), backwards.microbatch());
        if (k - ahead >= held_back) weight_half(weights, out);
      }
      backwards.advance();
    }
    if (form == backward_form::whole) return;
    for (std::int32_t left = std::min(count, held_back); left > 0; --left) weight_half(weights, out);
  }
  /// The microbatches of one stage.
  constexpr void order(std::int32_t count, stage_index stage, auto& out) const {
    order(count, stage_walk{stage}, stage_walk{stage}, out);
  }

 private:
  static constexpr void weight_half(auto& walk, auto& out) {
    out.backward_weight(walk.stage(), walk.microbatch());
    walk.advance();
  }
};

/// Why a scheme with one stage a device refuses a shape.
[[nodiscard]] constexpr std::string_view one_stage_refusal(const pipeline_shape& shape) {
  return shape.chunks == 1 ? "" : "a device holds one stage, so chunks must be 1";
}

}  // namespace brim::schemes
