// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace brim {

/// Why an action waits for another one.
enum class task_dependency : std::uint8_t {
  device,      ///< the device runs its actions in order
  activation,  ///< forward of a stage → forward of the next stage
  gradient,    ///< backward (or its input half) of a stage → the same of the stage before
  kept,        ///< forward → backward of the same stage; input half → weight half
};

/// Why an instruction waits for another one.
enum class plan_dependency : std::uint8_t {
  stream,    ///< the instruction before it in its stream
  event,     ///< the one that records what it waits for
  transfer,  ///< the send that fills a receive
};

[[nodiscard]] constexpr std::string_view name_of(task_dependency kind) {
  constexpr std::string_view names[]{"device", "activation", "gradient", "kept"};
  return names[static_cast<std::size_t>(kind)];
}

[[nodiscard]] constexpr std::string_view name_of(plan_dependency kind) {
  constexpr std::string_view names[]{"stream", "event", "transfer"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace brim
