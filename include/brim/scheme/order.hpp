// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/model/action.hpp>
#include <brim/model/placement.hpp>
#include <brim/model/shape.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace brim {

/// What every device does in one step, in order, without times. A value: print it, compare it, edit it.
struct order {
  std::string_view scheme{};  ///< name of the scheme; static storage
  pipeline_shape shape{};
  placement where{};
  std::vector<action> actions{};       ///< device by device, each in its order of execution
  std::vector<std::size_t> offsets{};  ///< `devices + 1` positions in `actions`

  /// The actions of one device.
  [[nodiscard]] constexpr std::span<const action> row(device_index device) const {
    return std::span(actions).subspan(offsets[device.at()], offsets[device.at() + 1] - offsets[device.at()]);
  }
  friend constexpr bool operator==(const order&, const order&) = default;
};

/// Takes the actions of one device from a scheme. Microbatches are numbered over the whole step; a scheme with several
/// routes names the route, the others leave it out.
class order_sink {
 public:
  constexpr explicit order_sink(std::vector<action>& actions) : actions_(actions) {}

  constexpr void forward(stage_index stage, microbatch_index microbatch, route_index route = route_index(0)) {
    push(action_kind::forward, stage, microbatch, route);
  }
  constexpr void backward(stage_index stage, microbatch_index microbatch, route_index route = route_index(0)) {
    push(action_kind::backward, stage, microbatch, route);
  }
  constexpr void backward_input(stage_index stage, microbatch_index microbatch, route_index route = route_index(0)) {
    push(action_kind::backward_input, stage, microbatch, route);
  }
  constexpr void backward_weight(stage_index stage, microbatch_index microbatch, route_index route = route_index(0)) {
    push(action_kind::backward_weight, stage, microbatch, route);
  }
  constexpr void add(const action& what) { actions_.push_back(what); }

 private:
  constexpr void push(action_kind kind, stage_index stage, microbatch_index microbatch, route_index route) {
    actions_.push_back({kind, side::none, route, stage, microbatch, layer_index(-1)});
  }

  std::vector<action>& actions_;
};

}  // namespace brim
