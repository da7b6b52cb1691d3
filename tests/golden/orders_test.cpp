// SPDX-License-Identifier: Apache-2.0
#include "data.hpp"

#include <brim/core/text.hpp>
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <string>

namespace {

using namespace test_support;

/// `"+0:1"` for the forward of microbatch 1 on stage 0; one action a word.
std::string words_of(const brim::order& made, brim::device_index device) {
  std::string out;
  for (const brim::action& a : made.row(device))
    out += brim::detail::text(out.empty() ? "" : " ", a.kind == brim::action_kind::forward ? '+' : '-', a.stage.value, ':',
                              a.microbatch.value);
  return out;
}

/// Spells `+0:1~3` out as `+0:1 +0:2 +0:3`.
std::string spelled_out(const std::string& line) {
  std::string out;
  for (const std::string& word : split(line, ' ')) {
    const std::size_t colon = word.find(':');
    const std::size_t tilde = word.find('~');
    const int first = std::stoi(word.substr(colon + 1));
    const int last = tilde == std::string::npos ? first : std::stoi(word.substr(tilde + 1));
    for (int m = first;; m += first < last ? 1 : -1) {
      out += (out.empty() ? "" : " ") + word.substr(0, colon + 1) + std::to_string(m);
      if (m == last) break;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("orders are those of PyTorch, PipeFisher's code and the papers' rules") {
  std::ifstream in(golden_dir() / "data" / "orders.txt");
  REQUIRE(in);
  std::map<std::string, int> shapes;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> head = split(line, ' ');
    REQUIRE(head.size() == 7);
    CAPTURE(line);
    const brim::pipeline_shape shape{.devices = std::stoi(head[2]),
                                     .microbatches = std::stoi(head[5]),
                                     .chunks = std::stoi(head[3]),
                                     .pairs = std::stoi(head[4])};
    const brim::order made = with_scheme(head[1], [&](const auto& scheme) { return brim::make_order(scheme, shape); });
    for (const brim::device_index d : brim::devices(shape)) {
      REQUIRE(std::getline(in, line));
      CHECK(words_of(made, d) == spelled_out(line));
    }
    for (const brim::action& a : made.actions) CHECK(a.route == made.where.route_of(a.microbatch));
    ++shapes[head[1]];
  }
  // a file that lost its lines must not pass
  CHECK(shapes == std::map<std::string, int>{
                      {"1f1b", 42}, {"chimera", 6}, {"gpipe", 42}, {"interleaved-1f1b", 94}, {"looped-bfs", 113}});
}
