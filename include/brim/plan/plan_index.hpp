// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/maybe.hpp>
#include <brim/plan/fault.hpp>
#include <brim/plan/plan.hpp>
#include <brim/plan/second_order_links.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace brim::detail {

/// Where the instructions of one microbatch at one stage in one step stand.
struct plan_cell {
  std::uint32_t forward = no_instruction;
  std::uint32_t backward = no_instruction;  ///< whole, or the input half
  std::uint32_t weight = no_instruction;    ///< the weight half
  std::uint32_t recompute = no_instruction;
  std::uint32_t send_activation = no_instruction;
  std::uint32_t recv_activation = no_instruction;
  std::uint32_t send_gradient = no_instruction;
  std::uint32_t recv_gradient = no_instruction;
};

/// A device that holds a stage, and how many microbatches of a step it runs there.
struct stage_holder {
  device_index device;
  std::int64_t microbatches = 0;
};

/// A collective as its members see it; `at` is sorted by device.
struct collective_group {
  std::vector<std::uint32_t>::size_type first = 0, last = 0;  ///< positions in `plan_index::members`
};

/// A plan that is being checked, with everything that is looked up while checking. Filled by the checks in turn; each of
/// them relies on what the ones before it have established. Its size is linear in the plan's, whatever the plan says.
struct plan_index {
  const plan& p;
  maybe<fault> found = {};

  std::vector<std::uint32_t> first_stream = {};  ///< by device, and one more: position in `plan::streams`
  std::vector<std::uint32_t> stream_of = {};     ///< by instruction
  std::vector<std::uint32_t> recorded_by = {};   ///< by event
  std::vector<plan_cell> cells = {};             ///< by step, stage, microbatch
  std::vector<std::uint32_t> partner = {};       ///< by instruction: other end of a transfer; group of a collective
  std::vector<std::uint32_t> members = {};       ///< instructions of collectives, group by group
  std::vector<collective_group> groups = {};
  std::vector<stage_holder> holders = {};  ///< stage by stage, by device
  std::vector<std::size_t> holder_offsets = {};
  bool has_second_order = false;  ///< or anything else that is no pipeline action and no transfer

  [[nodiscard]] std::size_t cell_at(std::int32_t step, std::int32_t stage, std::int32_t microbatch) const {
    return (static_cast<std::size_t>(step) * static_cast<std::size_t>(p.where.stages) +
            static_cast<std::size_t>(stage)) *
               static_cast<std::size_t>(p.shape.microbatches) +
           static_cast<std::size_t>(microbatch);
  }
  [[nodiscard]] plan_cell& cell_of(const instruction& i) {
    return cells[cell_at(i.step, i.what.stage.value, i.what.microbatch.value)];
  }
  [[nodiscard]] const plan_cell& cell_of(const instruction& i, std::int32_t stage) const {
    return cells[cell_at(i.step, stage, i.what.microbatch.value)];
  }
  [[nodiscard]] const stream& stream_at(std::uint32_t instruction_at) const {
    return p.streams[stream_of[instruction_at]];
  }
  [[nodiscard]] device_index device_at(std::uint32_t instruction_at) const { return stream_at(instruction_at).device; }

  /// The devices that hold a stage, by device.
  [[nodiscard]] std::span<const stage_holder> holders_of(stage_index stage) const {
    return std::span(holders).subspan(holder_offsets[stage.at()],
                                      holder_offsets[stage.at() + 1] - holder_offsets[stage.at()]);
  }
  /// Microbatches of a step that a device runs at a stage.
  [[nodiscard]] std::int64_t share_of(stage_index stage, device_index device) const {
    const auto on = holders_of(stage);
    const auto at = std::lower_bound(on.begin(), on.end(), device,
                                     [](const stage_holder& h, device_index d) { return h.device < d; });
    return at != on.end() && at->device == device ? at->microbatches : 0;
  }

  /// Notes the first fault; always false, so that a check can end with it.
  [[gnu::cold]] bool fail(const std::string& sentence, error_site site = {}, error_code code = error_code::bad_plan) {
    found = fault{code, text("plan", p.scheme.empty() ? "" : " ", p.scheme, ": ", sentence), site};
    return false;
  }
  /// As above, about one instruction.
  [[gnu::cold]] bool fail_at(std::uint32_t at, const std::string& rule) {
    const instruction& i = p.instructions[at];
    const stream& s = stream_at(at);
    return fail(text(describe_stream(s), ": entry ", at - s.begin, ": ", describe_entry(p, i), ": ", rule),
                site_of(s.device, i.step, i.what));
  }
};

}  // namespace brim::detail
