// SPDX-License-Identifier: Apache-2.0
// A schedule made by the compiler: its properties are checked before the program exists.
#include <brim/brim.hpp>

#include <cstddef>
#include <iostream>

constexpr brim::pipeline_shape shape{.devices = 4, .microbatches = 8};
constexpr auto plan =
    brim::static_plan<brim::schemes::one_f_one_b{}, shape>(brim::uniform_cost{.forward = 1, .backward = 2});

static_assert(plan.makespan() == 3 * brim::ticks{shape.microbatches + shape.devices - 1});
static_assert(plan.period() == plan.makespan());  // device 0 starts first and ends last
static_assert(plan.bubble_ratio() > 0.272 &&
              plan.bubble_ratio() < 0.273);  // (devices − 1) / (microbatches + devices − 1)

int main() {
  std::cout << plan.scheme << ": " << plan.makespan() << " ticks; the digits are microbatches\n";
  for (const brim::device_index device : devices(shape)) {
    std::cout << "device " << device.value << "  ";
    brim::ticks now = 0;
    for (std::size_t i = plan.offsets[device.at()]; i < plan.offsets[device.at() + 1]; ++i) {
      for (; now < plan.times[i].start; ++now) std::cout << '.';
      for (; now < plan.times[i].end; ++now) std::cout << plan.actions[i].microbatch.value;
    }
    std::cout << "\n";
  }
}
