// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace bench {

enum class effort : std::uint8_t {
  full,
  once,  ///< a small part of the work, to see that the program still runs
};

/// The command line of a program that prints tables.
struct arguments {
  std::string filter;  ///< only cases whose name contains it
  std::string json;    ///< file for the same tables as JSON; empty: none
  bench::effort effort = bench::effort::full;

  [[nodiscard]] bool wants(std::string_view name) const { return name.find(filter) != std::string_view::npos; }
};

/// Reads the command line. Options of Google Benchmark are understood as far as they make sense here, because
/// `./run bench` hands its options to every program: a `--benchmark_filter` that is not part of the program's name ends
/// it (`.` and `all` are part of every name), a `--benchmark_min_time` of 0 asks for `effort::once`, the others are left
/// aside.
inline arguments parse_arguments(int argc, char** argv, const std::string& program, const char* what) {
  const auto usage = [&](std::FILE* to) {
    std::fprintf(to,
                 "bench_%s: %s\n\n"
                 "  --filter TEXT   only the cases whose name contains TEXT\n"
                 "  --json FILE     write the tables as JSON, too\n"
                 "  --quick         a small part of the cases, each measured once\n"
                 "  --help          this text\n",
                 program.c_str(), what);
  };
  arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto starts = [&](std::string_view prefix) { return option.substr(0, prefix.size()) == prefix; };
    const auto value = [&](std::string_view name) {
      if (option.size() > name.size()) return std::string(option.substr(name.size() + 1));
      if (i + 1 < argc) return std::string(argv[++i]);
      std::fprintf(stderr, "bench_%s: %s needs a value\n", program.c_str(), argv[i]);
      std::exit(2);
    };
    if (option == "--filter" || starts("--filter=")) {
      out.filter = value("--filter");
    } else if (option == "--json" || starts("--json=")) {
      out.json = value("--json");
    } else if (option == "--quick") {
      out.effort = effort::once;
    } else if (starts("--benchmark_filter=")) {
      const std::string part = value("--benchmark_filter");
      if (part != "." && part != "all" && program.find(part) == std::string::npos) std::exit(0);
    } else if (starts("--benchmark_min_time=")) {
      if (std::strtod(value("--benchmark_min_time").c_str(), nullptr) == 0) out.effort = effort::once;
    } else if (option == "--help") {
      usage(stdout);
      std::exit(0);
    } else if (!starts("--benchmark_")) {
      std::fprintf(stderr, "bench_%s: no option %s\n", program.c_str(), argv[i]);
      usage(stderr);
      std::exit(2);
    }
  }
  return out;
}

}  // namespace bench
