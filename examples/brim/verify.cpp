// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "outputs.hpp"
#include "words.hpp"

#include <brim/core/text.hpp>
#include <brim/plan/verify.hpp>

#include <algorithm>

namespace tool {

std::string run_verify(const verify_request& request) {
  const brim::plan plan = read_plan(request.file);
  verify(plan);
  const auto count = [&](auto is) {
    return std::count_if(plan.instructions.begin(), plan.instructions.end(),
                         [&](const brim::instruction& i) { return is(i.what.kind); });
  };
  return brim::detail::text("ok: ", printable(request.file), ": ", plan.scheme, ", ",
                            counted(plan.shape.devices, "device"), ", ", counted(plan.shape.microbatches, "microbatch"),
                            ", ", counted(plan.steps, "step"), " of ", milliseconds(plan.step_length), ", transport ",
                            name_of(plan.transport), ": ", plan.instructions.size(), " instructions (",
                            count(brim::is_pipeline_action), " pipeline, ", count(brim::is_second_order),
                            " second-order, ", count(brim::is_send), " sends), ", plan.waits.size(), " waits\n");
}

}  // namespace tool
