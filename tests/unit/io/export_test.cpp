// SPDX-License-Identifier: Apache-2.0
#include "golden.hpp"
#include "samples.hpp"

#include <brim/io/ascii_grid.hpp>
#include <brim/io/metrics_csv.hpp>
#include <brim/io/svg.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

brim::timeline unit_costs(int devices, int microbatches) {
  return brim::simulate(brim::schemes::one_f_one_b{}, {.devices = devices, .microbatches = microbatches},
                        brim::uniform_cost{});
}

/// Every tag is closed, every `<` and `&` belongs to markup.
bool well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < xml.size(); ++at) {
    if (xml[at] == '&') {
      const std::string name = xml.substr(at, xml.find(';', at) - at + 1);
      if (std::set<std::string>{"&lt;", "&gt;", "&amp;", "&quot;"}.count(name) == 0) return false;
    }
    if (static_cast<unsigned char>(xml[at]) < 0x20 && xml[at] != '\n') return false;
    if (xml[at] != '<') continue;
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find(' '));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    at = end;
  }
  return open.empty();
}

}  // namespace

TEST_CASE("ascii grid: unit costs give an exact grid") {
  CHECK(brim::io::ascii_grid(unit_costs(2, 2)) ==
        "1f1b, 2 devices, 2 microbatches: 66.7 % busy\n"
        "pipeline: 66.7 % busy, step 9 ticks\n"
        "device 0 |F0-F1-......B0----...B1----|\n"
        "device 1 |...F0-B0----F1-B1----......|\n"
        "1 tick a cell   B backward   F forward   . idle\n");
}

TEST_CASE("ascii grid: every row has the asked width, whatever the times") {
  for (const int width : {1, 7, 60, 100, 200}) {
    const auto lines = lines_of(brim::io::ascii_grid(samples::small_fill(), {.width = width}));
    for (const std::string& line : lines) {
      if (line.rfind("device", 0) != 0) continue;
      const std::size_t columns = line.rfind('|') - line.find('|') - 1;
      CHECK(columns <= static_cast<std::size_t>(width));
      CHECK(columns == lines[2].rfind('|') - lines[2].find('|') - 1);
    }
  }
}

TEST_CASE("ascii grid: actions shorter than a column still show") {
  const brim::timeline many = unit_costs(2, 400);
  const auto lines = lines_of(brim::io::ascii_grid(many, {.width = 40}));
  CHECK(lines[3].find("....") == std::string::npos);
  CHECK(count_of(lines[3], ".") <= 1);
}

TEST_CASE("ascii grid: goldens") {
  CHECK(golden::difference("grid_1f1b.txt", brim::io::ascii_grid(samples::two_devices())) == "");
  CHECK(golden::difference("grid_fill.txt", brim::io::ascii_grid(samples::small_fill(2), {.width = 66})) == "");
  CHECK(golden::difference("grid_colour.txt",
                           brim::io::ascii_grid(samples::small_fill(),
                                                {.width = 66, .steps = 1, .colour = brim::io::colour::ansi})) == "");
}

TEST_CASE("ascii grid: without colour there is no escape, with it every line ends in a reset") {
  CHECK(brim::io::ascii_grid(samples::small_fill()).find('\x1b') == std::string::npos);
  for (const std::string& line :
       lines_of(brim::io::ascii_grid(samples::small_fill(), {.colour = brim::io::colour::ansi}))) {
    const std::size_t last = line.rfind('\x1b');
    if (last != std::string::npos) CHECK(line.compare(last, 4, "\x1b[0m") == 0);
  }
}

TEST_CASE("letters: no two kinds share one, and none means idle") {
  const brim::io::letter_table letters;
  std::set<char> used{letters.statistic_a, letters.statistic_b, letters.idle, letters.goes_on};
  for (const char letter : letters.of_kind) used.insert(letter);
  CHECK(used.size() == brim::action_kind_count + 4);
}

TEST_CASE("svg: goldens") {
  CHECK(golden::difference("timeline.svg", brim::io::svg(samples::two_devices())) == "");
  CHECK(golden::difference("fill.svg", brim::io::svg(samples::small_fill())) == "");
}

TEST_CASE("svg: well-formed also with a hostile title") {
  const std::string title(samples::hostile);
  const std::string picture = brim::io::svg(samples::small_fill(), {.title = title});
  CHECK(well_formed(picture));
  CHECK(picture.find("a&quot;b\\c&lt;d&gt;&amp;'e") != std::string::npos);
  CHECK(picture.find("\xC3\xA9 \xE2\x86\x92 \xF0\x9F\x98\x80") != std::string::npos);
  CHECK_FALSE(well_formed("<svg><g></svg>"));
  CHECK_FALSE(well_formed("<svg>a & b</svg>"));
}

TEST_CASE("svg: one box for each action, on the row of its device, and none too wide") {
  const std::string picture = brim::io::svg(unit_costs(4, 8));
  const std::string forward(brim::detail::looks[0].fill);
  const std::string backward(brim::detail::looks[1].fill);
  CHECK(count_of(picture, forward) == 4 * 8 + 1);  // and one in the legend
  CHECK(count_of(picture, backward) == 4 * 8 + 1);
  CHECK(count_of(picture, "font-size=\"11\"") == 2 * 4 * 8);  // each with its microbatch
}

TEST_CASE("svg: many thin actions share a box") {
  const std::string picture = brim::io::svg(unit_costs(2, 20'000));
  CHECK(picture.size() < 2'000'000);
}

TEST_CASE("svg: the number of steps is limited, by default to what is readable") {
  brim::filled f = samples::small_fill();
  f.cycle_length = 100;
  CHECK(count_of(brim::io::svg(f, {.steps = 3}), " of 100</tspan>") == 3);
  CHECK(count_of(brim::io::svg(f), " of 100</tspan>") == 6);
}

TEST_CASE("metrics csv: goldens, and as many cells in every row") {
  const std::string plain = brim::io::metrics_csv(samples::two_devices());
  const std::string filled = brim::io::metrics_csv(samples::small_fill(2));
  CHECK(golden::difference("metrics.csv", plain) == "");
  CHECK(golden::difference("metrics_fill.csv", filled) == "");
  for (const std::string& line : lines_of(plain + filled)) CHECK(count_of(line, ",") == 25);
}

TEST_CASE("metrics csv: a hostile scheme name is one cell") {
  brim::timeline t = samples::two_devices();
  t.program.scheme = "a,\"b\"\nc";
  CHECK(brim::io::metrics_csv(t).find("\n\"a,\"\"b\"\"\nc\",2,2,") != std::string::npos);
}

TEST_CASE("writers: the files hold the text") {
  const auto folder = test_support::scratch_dir() / "io_export";
  std::filesystem::create_directories(folder);
  brim::io::write_svg(folder / "t.svg", samples::two_devices());
  brim::io::write_metrics_csv(folder / "t.csv", samples::small_fill());
  CHECK(golden::content_of(folder / "t.svg") == brim::io::svg(samples::two_devices()));
  CHECK(golden::content_of(folder / "t.csv") == brim::io::metrics_csv(samples::small_fill()));
}
