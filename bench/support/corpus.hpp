// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"
#include "profiles.hpp"
#include "random_profile.hpp"

#include <brim/core/text.hpp>
#include <brim/model/profile.hpp>
#include <brim/model/split_stages.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/schedule/timeline.hpp>
#include <brim/scheme/scheme.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {

/// A timeline whose bubbles are to be filled.
struct fill_case {
  std::string name;  ///< profile/scheme/devices x microbatches
  std::string set;   ///< "published" or "random"
  brim::profile costs;
  brim::timeline pipeline;
};

using corpus_schemes =
    std::tuple<brim::schemes::gpipe, brim::schemes::one_f_one_b, brim::schemes::interleaved_one_f_one_b,
               brim::schemes::looped_bfs, brim::schemes::chimera>;

/// Whether a device holds several stages of a route in this scheme.
template <class Scheme>
inline constexpr bool has_chunks =
    std::same_as<Scheme, brim::schemes::interleaved_one_f_one_b> || std::same_as<Scheme, brim::schemes::looped_bfs>;

/// Builds the corpus, leaving out what the filter does.
class corpus_builder {
 public:
  explicit corpus_builder(const arguments& wanted) : wanted_(wanted) {}

  /// Every scheme on every published profile of BERT: stages of three Transformer blocks, so three chunks a device.
  void add_published() {
    const bool all = wanted_.effort == effort::full;
    for (const char* gpu : {"p100", "v100", "rtx3090"})
      for (const char* model : {"bert-base", "bert-large"})
        for (const char* head : {"", "-head"}) {
          if (!all && (std::string(gpu) != "p100" || std::string(model) != "bert-base")) continue;
          const std::string name = brim::detail::text(model, "-", gpu, head);
          const brim::profile profile = published_profile(name);
          std::apply([&](const auto&... scheme) { (add("published", name, scheme, profile, 3), ...); },
                     corpus_schemes{});
        }
  }

  /// Uneven stages and layers, with the schemes in turn. The seeds are fixed, so that two policies meet the same cases.
  void add_random() {
    const int count = wanted_.effort == effort::full ? 20 : 5;
    for (int seed = 0; seed < count; ++seed) {
      int turn = 0;
      std::apply([&](const auto&... scheme) { (add_random(seed, turn++, scheme), ...); }, corpus_schemes{});
    }
  }

  [[nodiscard]] std::vector<fill_case> take() { return std::move(cases_); }

 private:
  template <class Scheme>
  void add(const std::string& set, const std::string& profile_name, const Scheme& scheme, const brim::profile& whole,
           std::int32_t chunks) {
    const auto devices = static_cast<std::int32_t>(whole.stages.size());
    const brim::pipeline_shape shape{
        .devices = devices, .microbatches = devices, .chunks = has_chunks<Scheme> ? chunks : 1};
    add(set, profile_name, scheme, shape, split_stages(whole, shape.chunks));
  }

  template <class Scheme>
  void add_random(int seed, int turn, const Scheme& scheme) {
    if (seed % 5 != turn) return;
    random_source random(static_cast<std::uint64_t>(seed));
    const std::int32_t devices = 2 * random.between(1, 4);
    const std::int32_t chunks = has_chunks<Scheme> ? 2 : 1;
    const brim::pipeline_shape shape{
        .devices = devices, .microbatches = random.between(devices, 2 * devices), .chunks = chunks};
    add("random", brim::detail::text("random-", seed / 10, seed % 10), scheme, shape,
        random_profile(random, devices * chunks));
  }

  template <class Scheme>
  void add(const std::string& set, const std::string& profile_name, const Scheme& scheme,
           const brim::pipeline_shape& shape, brim::profile costs) {
    std::string name = brim::detail::text(profile_name, "/", Scheme::name, "/", shape.devices, "x", shape.microbatches);
    if (!wanted_.wants(name)) return;
    brim::timeline pipeline = simulate(scheme, shape, costs);
    cases_.push_back({std::move(name), set, std::move(costs), std::move(pipeline)});
  }

  const arguments& wanted_;
  std::vector<fill_case> cases_;
};

inline std::vector<fill_case> make_corpus(const arguments& wanted) {
  corpus_builder builder(wanted);
  builder.add_published();
  builder.add_random();
  return builder.take();
}

}  // namespace bench
