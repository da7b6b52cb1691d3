// SPDX-License-Identifier: Apache-2.0
// What the command can choose from by name.
#pragma once

#include <brim/fill/filled.hpp>
#include <brim/fill/kfac_work.hpp>
#include <brim/fill/options.hpp>
#include <brim/model/profile.hpp>
#include <brim/schedule/timeline.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

enum class chunk_rule : std::uint8_t { one, several };
enum class pair_rule : std::uint8_t { none, several };

/// One line of `brim schemes`. `m` microbatches, `p` devices, `v` chunks, f and b: forward and backward of a device.
struct scheme_entry {
  std::string_view name;
  chunk_rule chunks;
  pair_rule pairs;
  std::string_view bubble;
  std::string_view keeps;
  std::string_view accepts;
  std::string_view summary;
};

[[nodiscard]] std::span<const scheme_entry> schemes();
[[nodiscard]] const scheme_entry& scheme_named(std::string_view name);
[[nodiscard]] std::vector<std::string> scheme_names();
[[nodiscard]] std::vector<std::string> policy_names();

/// Where the scheme of that name puts the stages; a ring where it refuses the shape.
[[nodiscard]] brim::placement placement_named(std::string_view scheme, const brim::pipeline_shape& shape);

/// The exact timeline of the scheme of that name. Errors: those of `brim::simulate`.
[[nodiscard]] brim::timeline simulate_named(std::string_view scheme, const brim::pipeline_shape& shape,
                                            const brim::profile& costs);

/// `brim::fill` with the policy of that name. Errors: those of `brim::fill`.
[[nodiscard]] brim::filled fill_named(std::string_view policy, const brim::timeline& pipeline,
                                      const brim::kfac_work& work, const brim::fill_options& options);

}  // namespace tool
