// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/plan/plan.hpp>

#include <string>
#include <string_view>

namespace brim {

/// What is wrong with a plan: the payload of the `brim::error` that `verify` raises.
struct fault {
  error_code code = error_code::bad_plan;
  std::string sentence;
  error_site site;

  friend bool operator==(const fault&, const fault&) = default;
};

namespace detail {

/// The name of a kind, also of one that does not exist.
[[nodiscard]] constexpr std::string_view safe_name(action_kind kind) {
  return static_cast<std::size_t>(kind) < action_kind_count ? name_of(kind) : std::string_view("unknown kind");
}

/// `"statistic stage 3 microbatch 1 layer 0 side a"`: the parts that have a meaning.
inline std::string describe_any(const action& a) {
  std::string out(safe_name(a.kind));
  if (a.stage.value != -1) out += text(" stage ", a.stage.value);
  if (a.microbatch.value != -1) out += text(" microbatch ", a.microbatch.value);
  if (a.layer.value != -1) out += text(" layer ", a.layer.value);
  if (a.side != side::none) out += text(" side ", name_of(a.side));
  if (a.route.value != 0) out += text(" route ", a.route.value);
  return out;
}

/// As above, with the piece, and with the step where the plan has several.
template <class Entry>  // instruction or timed_action
std::string describe_entry(const plan& p, const Entry& e) {
  std::string out = describe_any(e.what);
  if (e.pieces != 1) out += text(" piece ", e.piece, " of ", e.pieces);
  if (p.steps != 1) out += text(" step ", e.step);
  if (e.origin_step != e.step) out += text(" of step ", e.origin_step);
  return out;
}

/// `"device 2 communication"`.
inline std::string describe_stream(const stream& s) {
  std::string out = text("device ", s.device.value, " ", name_of(s.kind));
  if (s.peer.value != -1) out += text(s.kind == stream_kind::send ? " to " : " from ", s.peer.value);
  return out;
}

[[nodiscard]] inline error_site site_of(device_index d, std::int32_t step, const action& a) {
  return {.device = d.value,
          .step = step,
          .stage = a.stage.value,
          .microbatch = a.microbatch.value,
          .layer = a.layer.value};
}

}  // namespace detail
}  // namespace brim
