// SPDX-License-Identifier: Apache-2.0
// A scheme of one's own is a struct with a name and an order. Here are two, measured against 1F1B.
#include <brim/brim.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <string_view>

/// Backward right after forward: one microbatch in memory, and nothing runs side by side.
struct depth_first {
  static constexpr std::string_view name = "depth-first";
  constexpr void order(const brim::pipeline_shape& shape, brim::device_index device, auto& out) const {
    const brim::stage_index stage = brim::stage_of(device);
    for (const auto m : brim::microbatches(shape)) out.forward(stage, m), out.backward(stage, m);
  }
};
static_assert(brim::pipeline_scheme<depth_first>);

/// 1F1B with twice the warm-up: memory buys the time that a slow link needs there and back.
struct eager_one_f_one_b {
  static constexpr std::string_view name = "eager-1f1b";
  constexpr std::string_view refusal(const brim::pipeline_shape& shape) const {
    return shape.chunks == 1 ? "" : "a device holds one stage, so chunks must be 1";
  }
  constexpr void order(const brim::pipeline_shape& shape, brim::device_index device, auto& out) const {
    const brim::stage_index stage = brim::stage_of(device);
    const int ahead = std::min(shape.microbatches, 2 * (shape.devices - 1 - device.value));
    for (int m = 0; m < shape.microbatches + ahead; ++m) {
      if (m < shape.microbatches) out.forward(stage, brim::microbatch_index(m));
      if (m >= ahead) out.backward(stage, brim::microbatch_index(m - ahead));
    }
  }
};
static_assert(brim::pipeline_scheme<eager_one_f_one_b>);

int main() {
  const brim::pipeline_shape shape{.devices = 4, .microbatches = 16};
  const auto report = [&](const auto& scheme, brim::ticks transfer_time) {
    const brim::timeline timeline =
        simulate(scheme, shape, brim::uniform_cost{.forward = 10, .backward = 20, .transfer_time = transfer_time});
    const auto kept = peak_memory(timeline, brim::uniform_memory{.activation = 1}).front();
    std::cout << "  " << std::setw(11) << scheme.name << " " << std::setw(4) << makespan(timeline) << " ticks, "
              << 100 * bubble_ratio(timeline) << " % idle, microbatches kept by device 0: " << kept << "\n";
  };
  std::cout << std::fixed << std::setprecision(1);
  for (const brim::ticks transfer_time : {0, 5, 10}) {
    std::cout << "forward 10, backward 20, transfer " << transfer_time << "\n";
    report(depth_first{}, transfer_time);
    report(brim::schemes::one_f_one_b{}, transfer_time);
    report(eager_one_f_one_b{}, transfer_time);
  }
}
