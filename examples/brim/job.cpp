// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include "searching.hpp"

#include <brim/core/text.hpp>
#include <brim/model/split_stages.hpp>
#include <brim/schedule/memory.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tool {
namespace {

using brim::error_code;
using brim::detail::text;

/// The greatest step and the greatest fill that the command plans: some gigabytes.
constexpr std::int64_t most_actions = std::int64_t{1} << 23;
constexpr std::int64_t most_pieces = std::int64_t{1} << 22;

std::int32_t narrow(std::int64_t value, std::string_view option) {
  if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
    brim::raise(error_code::bad_shape, text("--", option, " is ", value, ", which is more than any schedule has"));
  return static_cast<std::int32_t>(value);
}

/// The number of devices, where need be from the profile, which then lists every stage.
std::int64_t devices_for(const job_request& request, const brim::profile& costs, std::int64_t chunks) {
  if (request.devices != left_out) return request.devices;
  const auto stages = static_cast<std::int64_t>(costs.stages.size());
  if (stages == 1)
    throw usage_error("--devices is missing; the profile lists one stage, which stands for every device");
  if (stages % chunks != 0)
    throw usage_error(
        text("--devices is missing; the ", stages, " stages of the profile are not ", chunks, " on every device"));
  return stages / chunks;
}

/// Makes one stage a chunk out of one stage a device.
void cut_into_chunks(job& out, std::string_view scheme) {
  const auto stages = static_cast<std::int64_t>(out.costs.stages.size());
  if (out.shape.chunks == 1 || (stages != 1 && stages != out.shape.devices)) return;
  if (stages == 1) {
    constexpr std::size_t most_layers = std::size_t{1} << 20;
    const auto devices = static_cast<std::size_t>(out.shape.devices);
    if (devices > most_layers / std::max<std::size_t>(1, out.costs.stages.front().layers.size()))
      brim::raise(error_code::bad_profile,
                  text("more than 2^20 layers on ", devices, " devices; list the stages without layers"));
    const brim::stage_profile one = out.costs.stages.front();
    out.costs.stages.assign(devices, one);
  }
  out.costs = split_stages(std::move(out.costs), placement_named(scheme, out.shape));
  out.note = text("every device's stage is cut into ", out.shape.chunks,
                  " equal chunks, its layers kept whole; measure the chunks to be exact");
}

std::vector<brim::bytes> limits_of(const job_request& request, const job& work) {
  std::vector<brim::bytes> limits;
  bool any = false;
  const bool listed =
      work.costs.devices.size() == 1 || work.costs.devices.size() == static_cast<std::size_t>(work.shape.devices);
  for (const brim::device_index d : devices(work.shape)) {
    const brim::bytes own = listed ? work.costs.device(d).memory : 0;
    const brim::bytes asked = request.memory_limit;
    limits.push_back(own == 0 || asked == 0 ? std::max(own, asked) : std::min(own, asked));
    any = any || limits.back() > 0;
  }
  return any ? limits : std::vector<brim::bytes>{};
}

/// What the statistics of the layers on each device take all the time.
std::vector<brim::bytes> factors_of(const brim::placement& where, const brim::profile& costs) {
  std::vector<brim::bytes> factors(static_cast<std::size_t>(where.devices), 0);
  for (std::int32_t r = 0; r < where.routes; ++r)
    for (std::int32_t s = 0; s < where.stages; ++s)
      for (const brim::layer_profile& layer : costs.stage(brim::stage_index(s)).layers)
        factors[where.device_of(brim::route_index(r), brim::stage_index(s)).at()] += layer.factors;
  return factors;
}

/// Searches within what the factors leave of the memory.
void search_pipeline(outcome& made, const job& work, const job_request& request) {
  if (work.shape.chunks != 1)
    brim::raise(error_code::refused_shape,
                text(searched_name, ": the search is for one stage a device, so chunks must be 1"));
  std::vector<brim::bytes> limits = work.limits;
  if (request.fill != fill_kind::none && !limits.empty()) {
    const std::vector<brim::bytes> factors = factors_of(one_stage_a_device(work.shape), work.costs);
    for (std::size_t d = 0; d < limits.size(); ++d)
      if (limits[d] > 0) limits[d] = std::max<brim::bytes>(1, limits[d] - factors[d]);
  }
  brim::search_result found = search_order(work, request.search, limits);
  made.searched = {request.search.goal, found.length, found.bound.length, binding_text(found)};
  made.pipeline = std::move(found.best);
}

/// What is left of each device's memory for inputs and errors that wait for their statistics.
std::vector<brim::bytes> left_for_waiting(const job& work, const outcome& made) {
  std::vector<brim::bytes> left;
  for (std::size_t d = 0; d < work.limits.size(); ++d) {
    const brim::bytes limit = work.limits[d];
    left.push_back(limit == 0 ? brim::largest_memory : limit - made.peaks[d] - made.factors[d]);
    if (left.back() < 0)
      brim::raise(
          error_code::over_memory,
          text(made.pipeline.program.scheme, ": with K-FAC, device ", d, " needs ", made.peaks[d],
               " bytes at its peak and ", made.factors[d], " bytes for the factors, its limit is ", limit, " bytes"),
          {.device = static_cast<std::int32_t>(d)});
  }
  return left;
}

/// As `simulate_named`; what is wrong with the profile is said of its file, as when it is read.
brim::timeline simulate_job(const job& work, const job_request& request, std::string_view scheme) {
  try {
    return simulate_named(scheme, work.shape, work.costs);
  } catch (const brim::error& error) {
    constexpr std::string_view subject = "profile: ";
    const std::string_view sentence = error.what();
    if (error.code() != error_code::bad_profile || !sentence.starts_with(subject)) throw;
    brim::raise(error.code(), text(request.profile, ": ", sentence.substr(subject.size())), error.site());
  }
}

brim::filled fill_job(const job& work, const outcome& made, const job_request& request) {
  brim::fill_options options;
  options.margin_permille = std::llround(request.margin_percent * 10);
  options.longest_cycle = narrow(request.steps, "steps");
  options.panels = request.panels == "never"    ? brim::panel_rule::never
                   : request.panels == "always" ? brim::panel_rule::always
                                                : brim::panel_rule::when_needed;
  options.kept_limits = left_for_waiting(work, made);
  const brim::timeline_view t = made.pipeline;
  std::int64_t layers = 0;
  for (std::int32_t s = 0; s < t.stages; ++s)
    layers += static_cast<std::int64_t>(work.costs.stage(brim::stage_index(s)).layers.size());
  const std::int64_t replicas = std::max<std::int64_t>(1, narrow(request.replicas, "replicas"));
  if (layers > most_pieces / 2 / work.shape.microbatches / replicas)
    brim::raise(error_code::no_fill,
                text("more than 2^22 statistics a step: ", layers, " layers, ", work.shape.microbatches,
                     " microbatches, ", replicas, " replicas; use fewer microbatches, or join layers in the profile"));
  brim::filled filled =
      fill_named(request.policy, made.pipeline,
                 brim::kfac_work{.profile = work.costs, .replicas = narrow(request.replicas, "replicas")}, options);
  for (std::size_t lane = 0; lane < filled.report.devices.size() && !options.kept_limits.empty(); ++lane) {
    const std::size_t d = lane % options.kept_limits.size();
    if (filled.report.devices[lane].kept > options.kept_limits[d])
      brim::raise(error_code::over_memory,
                  text(request.policy, ": device ", d, " would keep ", filled.report.devices[lane].kept,
                       " bytes of inputs and errors for its statistics, and has ", options.kept_limits[d],
                       " bytes left for them"),
                  {.device = static_cast<std::int32_t>(d)});
  }
  return filled;
}

}  // namespace

job prepare_job(const job_request& request, const brim::profile& costs, std::string_view scheme, chunk_rule chunks) {
  job out;
  out.shape.chunks = narrow(chunks == chunk_rule::several ? request.chunks : 1, "chunks");
  if (out.shape.chunks < 1) check_shape(out.shape);
  out.shape.devices = narrow(devices_for(request, costs, out.shape.chunks), "devices");
  out.shape.microbatches =
      narrow(request.microbatches != left_out ? request.microbatches : out.shape.devices, "microbatches");
  out.shape.pairs = narrow(request.pairs, "pairs");
  check_shape(out.shape);
  if (std::int64_t{2} * out.shape.devices * out.shape.chunks > most_actions / out.shape.microbatches)
    brim::raise(error_code::bad_shape,
                text("more than 2^23 forwards and backwards a step, which is the most that this command plans (",
                     to_string(out.shape), ")"));
  out.costs = costs;
  cut_into_chunks(out, scheme);
  out.limits = limits_of(request, out);
  return out;
}

outcome run_job(const job& work, const job_request& request, std::string_view scheme) {
  outcome made;
  if (scheme == searched_name)
    search_pipeline(made, work, request);
  else
    made.pipeline = simulate_job(work, request, scheme);
  made.bound = makespan_bound(made.pipeline, work.costs);
  made.peaks = peak_memory(made.pipeline, work.costs);
  check_memory(made.pipeline, made.peaks, work.limits);
  if (request.fill == fill_kind::none) return made;
  made.factors = factors_of(made.pipeline.program.where, work.costs);
  made.filled = fill_job(work, made, request);
  return made;
}

}  // namespace tool
