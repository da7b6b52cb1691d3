// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/model/placement.hpp>
#include <brim/model/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace brim {
namespace detail {

/// Part `part` of `whole` cut in `parts`: the parts differ by at most 1, the larger ones come first.
[[nodiscard]] constexpr std::int64_t part_of(std::int64_t whole, std::int32_t parts, std::int32_t part) {
  return whole / parts + (part < whole % parts ? 1 : 0);
}

/// Cuts a whole of two shares so that the share that is left is never negative: a part of the sum less the part of one.
[[nodiscard]] constexpr std::int64_t other_part_of(std::int64_t one, std::int64_t other, std::int32_t parts,
                                                   std::int32_t part) {
  return part_of(one + other, parts, part) - part_of(one, parts, part);
}

/// The part of the stage that each of its layers belongs to: the layers stay in order, cut where their second-order work
/// comes to equal shares; by number where they have none.
[[nodiscard]] inline std::vector<std::int32_t> parts_of_layers(const std::vector<layer_profile>& layers,
                                                               std::int32_t parts) {
  const auto work_of = [](const layer_profile& l) {
    return static_cast<double>(l.statistic_a) + static_cast<double>(l.statistic_b) + static_cast<double>(l.refresh_a) +
           static_cast<double>(l.refresh_b) + static_cast<double>(l.precondition);
  };
  double total = 0;
  for (const layer_profile& l : layers) total += work_of(l);
  const bool by_work = total > 0;
  if (!by_work) total = static_cast<double>(layers.size());
  std::vector<std::int32_t> part;
  double before = 0;
  for (const layer_profile& l : layers) {
    const double work = by_work ? work_of(l) : 1;
    part.push_back(std::min(parts - 1, static_cast<std::int32_t>((before + work / 2) / total * parts)));
    before += work;
  }
  return part;
}

[[nodiscard]] inline stage_profile part_of_stage(const stage_profile& whole, std::int32_t parts, std::int32_t part,
                                                 const std::vector<std::int32_t>& layer_parts) {
  const stage_cost& cost = whole.cost;
  const stage_memory& memory = whole.memory;
  stage_profile out;
  out.cost = {.forward = part_of(cost.forward, parts, part),
              .backward = part_of(cost.backward, parts, part),
              .backward_input = part_of(cost.of(action_kind::backward_input), parts, part),
              .backward_weight = other_part_of(cost.of(action_kind::backward_input),
                                               cost.of(action_kind::backward_weight), parts, part),
              .recompute = part_of(cost.recompute, parts, part),
              .optimizer_step = part_of(cost.optimizer_step, parts, part)};
  out.memory = {.weights = part_of(memory.weights, parts, part),
                .activations = part_of(memory.activations, parts, part),
                .released_by_backward_input = part_of(memory.released_by_backward_input, parts, part),
                .released_by_backward_weight =
                    other_part_of(memory.released_by_backward_input, memory.released_by_backward_weight, parts, part)};
  for (std::size_t l = 0; l < whole.layers.size(); ++l)
    if (layer_parts[l] == part) out.layers.push_back(whole.layers[l]);
  return out;
}

/// The times of all boundaries of a placement, from those between neighbouring devices. A link that these do not tell, as
/// that from the last device of a ring to the first, is taken to be as slow as the slowest.
[[nodiscard]] inline std::vector<ticks> links_along(const std::vector<ticks>& links, const placement& where) {
  if (links.size() < 2 || links.size() + 1 != static_cast<std::size_t>(where.devices)) return links;
  const ticks slowest = *std::max_element(links.begin(), links.end());
  std::vector<ticks> out;
  for (std::int32_t s = 0; s + 1 < where.stages; ++s) {
    const std::size_t from = where.device_of(route_index(0), stage_index(s)).at();
    const std::size_t to = where.device_of(route_index(0), stage_index(s + 1)).at();
    const std::size_t low = std::min(from, to);
    out.push_back(std::max(from, to) - low == 1 ? links[low] : slowest);
  }
  return out;
}

inline void check_cut(std::int64_t stages, std::int32_t chunks) {
  constexpr std::int64_t most_stages = std::int64_t{1} << 16;
  if (chunks < 1) raise(error_code::bad_shape, text("split_stages: chunks is ", chunks, "; expected 1 or more"));
  if (stages > most_stages / chunks)
    raise(error_code::bad_profile,
          text("split_stages: ", stages, " stages in ", chunks, " chunks each are more than 2^16 stages"));
}

}  // namespace detail

/// The same model in smaller stages, for a placement that holds several of them on a device: each stage becomes
/// `where.stages / stages` stages, in the order of the forward pass.
///
/// It assumes that a stage can be cut anywhere: times and memory are divided into parts that differ by at most one tick or
/// byte and have the old sum; layers stay whole and in order, and are dealt so that the parts have second-order work as
/// equal as that allows. Measure the cut stages instead where you can. Devices stay as they are. A transfer takes as long
/// as before; where each boundary has a time of its own, one between neighbouring devices takes that of their link, any
/// other that of the slowest.
/// Pre: `whole` has passed the reader or `check_profile`. Complexity: linear in the result.
/// Errors: `bad_shape` where the placement's stages are no multiple of the profile's; `bad_profile` where there would be more
/// than 2^16 stages.
[[nodiscard]] inline profile split_stages(profile whole, const placement& where) {
  const auto count = static_cast<std::int64_t>(whole.stages.size());
  if (count == 0 || where.stages < 1 || where.stages % count != 0)
    raise(error_code::bad_shape, detail::text("split_stages: ", count, " stages do not become ", where.stages));
  const auto chunks = static_cast<std::int32_t>(where.stages / count);
  if (chunks == 1) return whole;
  detail::check_cut(count, chunks);
  const std::vector<stage_profile> stages = std::exchange(whole.stages, {});
  for (const stage_profile& stage : stages) {
    const std::vector<std::int32_t> layer_parts = detail::parts_of_layers(stage.layers, chunks);
    for (std::int32_t part = 0; part < chunks; ++part)
      whole.stages.push_back(detail::part_of_stage(stage, chunks, part, layer_parts));
  }
  whole.links.p2p = detail::links_along(whole.links.p2p, where);
  return whole;
}

/// The same for chunks in a ring, `looped`: stage `s` becomes the stages `s * chunks` … `s * chunks + chunks - 1`.
/// Errors: also `bad_shape` where `chunks` is less than 1.
[[nodiscard]] inline profile split_stages(profile whole, std::int32_t chunks) {
  const auto count = static_cast<std::int64_t>(whole.stages.size());
  detail::check_cut(count, chunks);
  const placement ring = looped({.devices = static_cast<std::int32_t>(count), .chunks = chunks});
  return split_stages(std::move(whole), ring);
}

}  // namespace brim
