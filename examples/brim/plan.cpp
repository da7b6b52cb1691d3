// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "outputs.hpp"
#include "summary.hpp"
#include "words.hpp"

#include <brim/core/text.hpp>
#include <brim/plan/lower.hpp>
#include <brim/plan/replay_length.hpp>
#include <brim/plan/verify.hpp>

#include <algorithm>

namespace tool {
namespace {

using brim::detail::text;

/// Of a plan that is written as a whole.
constexpr std::int64_t most_entries = std::int64_t{1} << 25;

brim::plan lower_replica(const outcome& made, const job& work, brim::transport transport, std::int32_t replica) {
  brim::plan plan = made.filled ? lower(*made.filled, {.transport = transport, .replica = replica})
                                : lower(made.pipeline, {.transport = transport});
  measure(plan, made.pipeline, work.costs);
  verify(plan, work.costs, work.limits);
  return plan;
}

/// Lowers for every replica, since their collectives belong together; keeps the one that was asked for.
brim::plan lower_and_verify(const plan_request& request, const outcome& made, const job& work) {
  const std::int32_t replicas = made.filled ? made.filled->replicas : 1;
  if (request.replica < 0 || request.replica >= replicas)
    throw usage_error(text("--replica is ", request.replica, "; there ",
                           replicas == 1 ? "is one replica" : "are replicas 0 to ",
                           replicas == 1 ? std::string() : std::to_string(replicas - 1)));
  const brim::transport transport = *brim::transport_named(request.transport);
  const auto actions = static_cast<std::int64_t>(made.pipeline.times.size());
  if (made.filled && actions > most_entries / made.filled->cycle_length)
    brim::raise(brim::error_code::no_fill,
                text("a table of ", made.filled->cycle_length, " steps of ", actions,
                     " forwards and backwards has more than 2^25 entries; set --steps, or join layers in the profile"));
  brim::plan kept;
  for (std::int32_t replica = 0; replica < replicas; ++replica) {
    brim::plan plan = lower_replica(made, work, transport, replica);
    if (replica == request.replica) kept = std::move(plan);
  }
  return kept;
}

/// What the transport adds: the timeline above has transfers that never wait for each other.
std::string replayed(const plan_request& request, const brim::plan& plan, const job& work) {
  const brim::ticks planned = plan.steps * plan.step_length;
  const brim::ticks real = replay_length(plan, work.costs);
  const std::string start = text("replayed on ", request.transport, ": ");
  if (real - planned < planned / 2000) return start + "its transfers make no step longer\n";
  return text(start, "a step takes ", milliseconds(real / plan.steps), ", ",
              percent(static_cast<double>(real) / static_cast<double>(planned) - 1),
              " more: transfers wait for each other\n");
}

}  // namespace

std::string run_plan(const plan_request& request) {
  if (request.job.pairs != 1 && scheme_named(request.scheme).pairs == pair_rule::none)
    throw usage_error(text("--pairs is for schemes with routes in both directions: chimera, not ", request.scheme));
  check_outputs(request);
  const job work = prepare_job(request.job, read_profile(request.job.profile), request.scheme, chunk_rule::several);
  const outcome made = run_job(work, request.job, request.scheme);
  const brim::plan plan = lower_and_verify(request, made, work);
  const std::string written = write_outputs(request, made, work.costs, plan);
  std::string out = summary(work, made) + '\n' + grid(request, made) + '\n' + written;
  out += text("plan verified (transport ", request.transport, "): ", plan.instructions.size(), " instructions on ",
              plan.streams.size(), " streams, ", counted(plan.steps, "step"));
  if (plan.replicas > 1) out += text(", of replica ", plan.replica, "; the other replicas' plans are right too");
  return out + '\n' + replayed(request, plan, work);
}

}  // namespace tool
