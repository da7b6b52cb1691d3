// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/model/action.hpp>
#include <brim/model/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace brim::detail {

/// Actions of every device, wherever their arrays live.
struct rows {
  std::string_view scheme;
  pipeline_shape shape;
  std::int32_t stages = 1;
  std::span<const device_index> holders;
  std::span<const action> actions;
  std::span<const std::size_t> offsets;

  [[nodiscard]] std::int32_t routes() const { return static_cast<std::int32_t>(holders.size()) / stages; }
  [[nodiscard]] device_index device_of(const action& a) const {
    return holders[a.route.at() * static_cast<std::size_t>(stages) + a.stage.at()];
  }
};

/// Finds the action of a stage and microbatch. A `backward` and a `backward_input` take the same place.
class task_index {
 public:
  static constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();

  /// Errors: `bad_order` (an action twice, on the wrong device, or that is none of a step's).
  explicit task_index(const rows& from)
      : stages_(from.stages),
        microbatches_(static_cast<std::size_t>(from.shape.microbatches)) {
    const std::size_t cells = static_cast<std::size_t>(stages_) * microbatches_;
    places_.assign(2 * cells, none);
    for (const device_index d : devices(from.shape))
      for (std::size_t v = from.offsets[d.at()]; v < from.offsets[d.at() + 1]; ++v) {
        const action& a = from.actions[v];
        check(from, a, d);
        if (a.kind == action_kind::backward_weight) places_.resize(3 * cells, none);
        std::uint32_t& place = places_[at(a.kind, a.stage.value, a.microbatch)];
        if (place != none) refuse(from, a, d, "it stands twice in the order");
        place = static_cast<std::uint32_t>(v);
      }
  }

  /// The action, or `absent`; any stage number may be asked for.
  [[nodiscard]] std::size_t find(action_kind kind, std::int32_t stage, microbatch_index microbatch) const {
    if (stage < 0 || stage >= stages_) return absent;
    const std::size_t place = at(kind, stage, microbatch);
    return place >= places_.size() || places_[place] == none ? absent : places_[place];
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] std::size_t at(action_kind kind, std::int32_t stage, microbatch_index microbatch) const {
    const std::size_t table = kind == action_kind::forward ? 0 : kind == action_kind::backward_weight ? 2 : 1;
    return (table * static_cast<std::size_t>(stages_) + static_cast<std::size_t>(stage)) * microbatches_ +
           microbatch.at();
  }

  static void check(const rows& from, const action& a, device_index d) {
    if (a.kind > action_kind::backward_weight) refuse(from, a, d, "an order holds only forwards and backwards");
    if (a.stage.value < 0 || a.stage.value >= from.stages) refuse(from, a, d, "there is no such stage");
    if (a.microbatch.value < 0 || a.microbatch.value >= from.shape.microbatches)
      refuse(from, a, d, "there is no such microbatch");
    if (a.route.value < 0 || a.route.value >= from.routes()) refuse(from, a, d, "there is no such route");
    if (from.device_of(a) != d) refuse(from, a, d, "another device holds this stage");
  }
  [[noreturn]] static void refuse(const rows& from, const action& a, device_index d, std::string_view fault) {
    raise(error_code::bad_order,
          text(from.scheme, ": device ", d.value, ": ", name_of(a.kind), " stage ", a.stage.value, " microbatch ",
               a.microbatch.value, ": ", fault),
          {.device = d.value, .stage = a.stage.value, .microbatch = a.microbatch.value});
  }

  std::int32_t stages_;
  std::size_t microbatches_;
  std::vector<std::uint32_t> places_;
};

}  // namespace brim::detail
