// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/model/placement.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/scheme/order.hpp>
#include <brim/search/line_order.hpp>
#include <brim/search/line_problem.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace brim::detail {

/// A found order as an order of actions: the n-th action of a kind is that of microbatch n.
[[nodiscard]] inline order make_line_actions(const line_order& found, const pipeline_shape& shape,
                                             std::string_view name) {
  order made{.scheme = name, .shape = shape, .where = one_stage_a_device(shape), .actions = {}, .offsets = {0}};
  made.actions.reserve(3 * static_cast<std::size_t>(shape.devices) * static_cast<std::size_t>(shape.microbatches));
  order_sink sink(made.actions);
  for (const device_index d : devices(shape)) {
    std::int32_t forwards = 0;
    std::int32_t inputs = 0;
    std::int32_t weights = 0;
    for (const std::uint8_t kind : found.row(d.at())) {
      if (kind == forward_kind)
        sink.forward(stage_of(d), microbatch_index(forwards++));
      else if (kind == backward_input_kind)
        sink.backward_input(stage_of(d), microbatch_index(inputs++));
      else
        sink.backward_weight(stage_of(d), microbatch_index(weights++));
    }
    made.offsets.push_back(made.actions.size());
  }
  return made;
}

}  // namespace brim::detail
