// SPDX-License-Identifier: Apache-2.0
// What the command line asks for, as plain values.
#pragma once

#include <brim/core/ticks.hpp>
#include <brim/schedule/metrics.hpp>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace tool {

/// Something is wrong with the command line itself: exit code 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class fill_kind : std::uint8_t { none, kfac };
enum class colour_rule : std::uint8_t { when_terminal, never };

/// The value of a number that was not given.
inline constexpr std::int64_t left_out = std::numeric_limits<std::int64_t>::min();

/// What the scheme "auto" looks for, and for how long.
struct search_wishes {
  brim::length_kind goal = brim::length_kind::makespan;
  std::int64_t operations = 0;    ///< 0: what the search thinks right; without meaning where there is a time
  std::int64_t milliseconds = 0;  ///< on the wall; 0: no such limit, so that every machine finds the same
};

/// Numbers are 64 bits wide so that absurd ones are refused by the rule that they break, and not by the parser.
struct job_request {
  std::string profile;
  std::int64_t devices = left_out;       ///< default: as many as the profile has stages for
  std::int64_t microbatches = left_out;  ///< default: as many as devices
  std::int64_t chunks = 1;
  std::int64_t pairs = 1;
  std::int64_t replicas = 1;
  brim::bytes memory_limit = 0;  ///< of every device; 0: none
  fill_kind fill = fill_kind::none;
  std::string policy = "oldest-longest";
  std::int64_t steps = 0;  ///< 0: what the fill thinks right
  double margin_percent = 5;
  std::string panels = "when-needed";
  search_wishes search{};
};

struct plan_request {
  job_request job;
  std::string scheme = "1f1b";
  std::string transport = "one_queue";
  std::int64_t replica = 0;                ///< whose plan is written
  std::string json, trace, svg, dot, csv;  ///< files to write; empty: not wanted
  std::int64_t width = 100;
  colour_rule colour = colour_rule::when_terminal;
};

struct compare_request {
  job_request job;
  std::vector<std::string> schemes{};  ///< only these; empty: all
};

struct search_request {
  job_request job;
};

struct verify_request {
  std::string file;
};

}  // namespace tool
