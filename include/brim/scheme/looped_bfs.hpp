// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/scheme/concepts.hpp>

namespace brim::schemes {

/// Breadth-first: chunk by chunk, all microbatches forward, then chunk by chunk back, the last microbatch first
/// (Lamy-Poirier, arXiv 2211.05953).
///
/// Bubble of a device with equal stages: (devices − 1)(forward + backward) of one chunk. Peak: every microbatch of every
/// chunk. Accepts every shape.
struct looped_bfs {
  static constexpr std::string_view name = "looped-bfs";

  [[nodiscard]] constexpr brim::placement placement(const pipeline_shape& shape) const { return looped(shape); }
  constexpr void order(const pipeline_shape& shape, device_index device, auto& out) const {
    for (std::int32_t c = 0; c < shape.chunks; ++c)
      for (const microbatch_index m : microbatches(shape))
        out.forward(stage_index(c * shape.devices + device.value), m);
    for (std::int32_t c = shape.chunks - 1; c >= 0; --c)
      for (std::int32_t m = shape.microbatches - 1; m >= 0; --m)
        out.backward(stage_index(c * shape.devices + device.value), microbatch_index(m));
  }
};
static_assert(pipeline_scheme<looped_bfs>);

}  // namespace brim::schemes
