// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/ticks.hpp>
#include <brim/model/action.hpp>
#include <brim/model/costs.hpp>
#include <brim/model/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace bench {

/// Memory of each stage: `taken` from the start of a forward, all but `kept` back after the backward_input.
struct staged_memory {
  std::vector<brim::bytes> taken{};
  std::vector<brim::bytes> kept{};

  [[nodiscard]] brim::bytes at_start(const brim::action& a, brim::device_index) const {
    return a.kind == brim::action_kind::forward ? taken[a.stage.at()] : 0;
  }
  [[nodiscard]] brim::bytes at_end(const brim::action& a, brim::device_index) const {
    if (a.kind == brim::action_kind::backward_input) return kept[a.stage.at()] - taken[a.stage.at()];
    return a.kind == brim::action_kind::backward_weight ? -kept[a.stage.at()] : 0;
  }
  [[nodiscard]] brim::bytes resident(brim::route_index, brim::stage_index) const { return 0; }
};

/// One published input, and the longest span that the published program reached (0: none).
struct search_case {
  std::string set{};
  std::string line{};  ///< as it stands in the file
  brim::pipeline_shape shape{};
  brim::stage_costs costs{};
  staged_memory memory{};
  std::vector<brim::bytes> limits{};
  brim::ticks reference = 0;
  bool proven = false;  ///< whether the reference is the optimum

  /// Whether a device has room for fewer microbatches than there are devices.
  [[nodiscard]] bool scarce() const { return limits[0] > 0 && limits[0] < memory.taken[0] * shape.devices; }
};

/// Reads a file in the format of `tests/golden/data/search_grid.csv` or `search_uneven.csv`: cells with one number hold for
/// every stage, others name one for each.
inline std::vector<search_case> read_search_cases(const std::string& path) {
  std::ifstream in(path);
  std::vector<search_case> cases;
  std::vector<std::string> columns;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::map<std::string, std::vector<std::int64_t>> cells;
    std::stringstream words(line);
    search_case made{.set = {}, .line = line};
    std::size_t column = 0;
    for (std::string word; std::getline(words, word, ','); ++column) {
      if (column >= columns.size()) {
        columns.push_back(word);  // the first line names them
        continue;
      }
      if (columns[column] == "set") {
        made.set = word;
        continue;
      }
      std::stringstream numbers(word);
      for (std::int64_t number = 0; numbers >> number;) cells[columns[column]].push_back(number);
    }
    if (cells.empty()) continue;
    const std::size_t stages =
        cells.count("devices") != 0 ? static_cast<std::size_t>(cells["devices"][0]) : cells["forward"].size();
    const auto of = [&](const std::string& name, std::size_t stage) {
      const std::vector<std::int64_t>& values = cells[name];
      return values.size() == 1 ? values[0] : values[stage];
    };
    made.shape = {.devices = static_cast<std::int32_t>(stages),
                  .microbatches = static_cast<std::int32_t>(of("microbatches", 0))};
    for (std::size_t s = 0; s < stages; ++s) {
      made.costs.stages.push_back({.forward = of("forward", s),
                                   .backward = of("backward_input", s) + of("backward_weight", s),
                                   .backward_input = of("backward_input", s),
                                   .backward_weight = of("backward_weight", s)});
      if (s + 1 < stages) made.costs.transfers.push_back(of("hop", s));
      made.memory.taken.push_back(of("taken", s));
      made.memory.kept.push_back(of("kept", s));
      made.limits.push_back(of("limit", s));
    }
    made.reference = of("reference", 0);
    made.proven = cells.count("proven") != 0 && of("proven", 0) != 0;
    cases.push_back(made);
  }
  return cases;
}

}  // namespace bench
