// SPDX-License-Identifier: Apache-2.0
// From a request to numbers: the profile cut to the shape, the timeline, the fill, the memory.
#pragma once

#include "catalogue.hpp"
#include "requests.hpp"

#include <brim/schedule/lower_bound.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tool {

/// A request for one scheme, complete.
struct job {
  brim::pipeline_shape shape;
  brim::profile costs;              ///< one stage for each of the scheme's stages, or one for all
  std::vector<brim::bytes> limits;  ///< of each device, 0 for none; empty: no limits at all
  std::string note;                 ///< what had to be done to the profile; empty: nothing
};

/// What the search says of the order that it found.
struct search_report {
  brim::length_kind goal = brim::length_kind::makespan;
  brim::ticks length = 0;
  brim::ticks bound = 0;  ///< no order within the memory is shorter
  std::string binding;    ///< what keeps it from being shorter
};

struct outcome {
  brim::timeline pipeline;
  brim::lower_bound bound;
  std::vector<brim::bytes> peaks;    ///< of the pipeline, of each device
  std::vector<brim::bytes> factors;  ///< statistics of each device's layers; empty without a fill
  std::optional<brim::filled> filled;
  std::optional<search_report> searched;  ///< of the scheme "auto"
};

/// Completes what the request leaves out and checks it; `chunks`: whether the request's count is meant for the scheme. Errors: `usage_error`, `bad_shape`, `bad_profile`.
[[nodiscard]] job prepare_job(const job_request& request, const brim::profile& costs, std::string_view scheme,
                              chunk_rule chunks);

/// Plans a job. Errors: those of `brim::simulate` and `brim::fill`; `over_memory`.
[[nodiscard]] outcome run_job(const job& work, const job_request& request, std::string_view scheme);

}  // namespace tool
