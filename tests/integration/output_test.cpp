// SPDX-License-Identifier: Apache-2.0
// What the command prints: whole outputs against files, and what holds for all of them.
#include "../unit/io/golden.hpp"
#include "tool.hpp"

#include <brim/version.hpp>

#include <algorithm>

namespace {

using namespace tool_test;

/// Compares with tests/golden/tool/<name>.
std::string difference(const std::string& name, const std::string& text) {
  return golden::difference(test_support::golden_dir() / "tool" / name, text, test_support::update_golden());
}

/// The first character that a file or a pipe should not get; −1 for none.
int control_character(const std::string& text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < ' ' && c != '\n') return static_cast<unsigned char>(c);
  return -1;
}

/// Whether there is a control character of two bytes, U+0080 to U+009F.
bool control_c1(const std::string& text) {
  for (std::size_t at = text.find('\xC2'); at != std::string::npos; at = text.find('\xC2', at + 1))
    if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0) return true;
  return false;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    widest = std::max(widest, end - at);
    at = end + 1;
  }
  return widest;
}

}  // namespace

TEST_CASE("outputs are as reviewed") {
  const workshop place("golden");
  write(place / "small.json", small_profile());
  const auto compare = [&](const std::string& name, const std::vector<std::string>& words) {
    const result got = place.brim(words);
    CHECK_MESSAGE(got.code == 0, got.err);
    CHECK(difference(name, got.out) == "");
    CHECK(control_character(got.out) == -1);
  };
  compare("plan_1f1b.txt", {"plan", "--profile", "small.json"});
  compare("plan_chimera_kfac.txt",
          {"plan", "--profile", "small.json", "--scheme", "chimera", "--fill", "kfac", "--memory-limit", "1GiB"});
  compare("plan_interleaved.txt", {"plan", "--profile", "small.json", "--scheme", "interleaved-1f1b", "--devices", "4",
                                   "--chunks", "2", "--width", "60"});
  compare("compare.txt", {"compare", "--profile", "small.json"});
  compare("compare_refused.txt", {"compare", "--profile", "small.json", "--fill", "none", "--memory-limit", "350MiB"});
  compare("plan_base_chimera.txt",
          {"plan", "--profile", example("bert-base-p100"), "--scheme", "chimera", "--fill", "kfac"});
  compare("compare_base.txt", {"compare", "--profile", example("bert-base-p100"), "--schemes",
                               "gpipe,1f1b,interleaved-1f1b,looped-bfs,chimera,zb-h1,auto"});
  compare("schemes.txt", {"schemes"});
  compare("search.txt", {"search", "--profile", "small.json", "--microbatches", "8"});
  compare("search_limited.txt", {"search", "--profile", "small.json", "--microbatches", "8", "--memory-limit", "250MiB",
                                 "--objective", "span"});
  compare("search_large_head.txt",
          {"search", "--profile", example("bert-large-p100-head"), "--microbatches", "16", "--budget", "100000"});
  compare("plan_auto.txt",
          {"plan", "--profile", "small.json", "--scheme", "auto", "--microbatches", "8", "--memory-limit", "250MiB"});
}

TEST_CASE("names in files do not steer the terminal") {
  const workshop place("escapes");
  const std::string nasty = "\\u0000\\u001b[31m\\nX\\u009b1m";  // in JSON: NUL, ESC, a line end, CSI of one byte
  const std::string shown = "\\u0000\\u001b[31m\\u000aX\\u009b1m";
  std::string profile = small_profile(R"(, "devices": [{"memory": 1}])");
  profile.replace(profile.find("\"small\""), 7, '"' + nasty + '"');
  profile.replace(profile.find("\"statistic\""), 0, "\"name\": \"" + nasty + "\", ");
  write(place / "limited.json", profile);
  profile.replace(profile.find(", \"devices\""), std::string::npos, "}\n");
  write(place / "free.json", profile);
  const auto says = [&](const std::vector<std::string>& words, std::string what) {
    const result got = place.brim(words);
    CHECK(control_character(got.out + got.err) == -1);
    CHECK(control_c1(got.out + got.err) == false);
    CHECK_MESSAGE((got.out + got.err).find(what) != std::string::npos, got.out << got.err);
  };
  says({"plan", "--profile", "free.json", "--json", "plan.json"}, "4 microbatches; " + shown + "\n");
  says({"plan", "--profile", "free.json", "--fill", "kfac", "--devices", "4", "--panels", "never", "--microbatches",
        "1", "--margin", "1000"},
       " of " + shown + " (stage ");
  says({"compare", "--profile", "free.json"}, "4 microbatches; " + shown + "\n");
  std::string plan = content_of(place / "plan.json");
  plan.replace(plan.find("\"1f1b\""), 6, '"' + nasty + '"');
  write(place / "right.json", plan);
  says({"verify", "right.json"}, "right.json: " + shown + ", 4 devices");
  plan.replace(plan.find("\"peer\": 1"), 9, "\"peer\": 2");
  write(place / "wrong.json", plan);
  says({"verify", "wrong.json"}, shown);
  plan.replace(plan.find("\"op\": \"forward\""), 15, "\"op\": \"" + nasty + '"');
  write(place / "unknown.json", plan);
  says({"verify", "unknown.json"}, "there is no action \"\\u0000\\u001b[31m\\nX");
  write(place / "a\033b.json", plan);
  says({"verify", "a\033b.json"}, "a\\u001bb.json: ");
}

TEST_CASE("compare takes pairs for the schemes that have them") {
  const workshop place("pairs");
  write(place / "small.json", small_profile());
  const auto row = [](const std::string& table, const std::string& scheme) {
    const std::size_t at = table.find('\n' + scheme + ' ');
    REQUIRE(at != std::string::npos);
    return table.substr(at, table.find('\n', at + 1) - at);
  };
  const std::string one = place.brim({"compare", "--profile", "small.json", "--fill", "none"}).out;
  const std::string two = place.brim({"compare", "--profile", "small.json", "--fill", "none", "--pairs", "2"}).out;
  for (const std::string scheme : {"gpipe", "1f1b", "interleaved-1f1b", "looped-bfs"})
    CHECK(row(one, scheme) == row(two, scheme));
  CHECK(row(one, "chimera") != row(two, "chimera"));
  const std::string plan = place.brim({"plan", "--profile", "small.json", "--scheme", "chimera", "--pairs", "2"}).out;
  const std::size_t makespan = plan.find("makespan       ") + 15;
  CHECK(row(two, "chimera").find(plan.substr(makespan, plan.find(" ms", makespan) - makespan)) != std::string::npos);
}

TEST_CASE("the sample of a profile is complete enough for K-FAC") {
  const workshop place("sample");
  const result plan = place.brim({"plan", "--profile", example("sample"), "--scheme", "chimera", "--fill", "kfac"});
  CHECK_MESSAGE(plan.code == 0, plan.err);
  for (const char* line :
       {"\n  memory limit   16.00 GiB ", "\n  factors ",
        "+ 3.6 % a step               a step takes 622.7 ms, without K-FAC 600.8 ms", "\n  kept memory "})
    CHECK_MESSAGE(plan.out.find(line) != std::string::npos, plan.out);
  const result table =
      place.brim({"compare", "--profile", example("sample"), "--schemes", "gpipe,1f1b,looped-bfs,chimera"});
  CHECK(table.out.find("refused") == std::string::npos);
  CHECK(table.out.find(" factors ") != std::string::npos);
}

TEST_CASE("tables are at most 120 columns wide, also where a reason is long") {
  const workshop place("width");
  write(place / "small.json", small_profile());
  const std::string out = place.brim({"compare", "--profile", "small.json", "--memory-limit", "370MiB"}).out;
  CHECK(out.find("refused: ") != std::string::npos);
  CHECK(widest_line(out) > 100);
  CHECK(widest_line(out) <= 120);
  CHECK(widest_line("12\n1234\n1") == 4);
}

TEST_CASE("verify says what it has checked") {
  const workshop place("verify");
  write(place / "small.json", small_profile());
  REQUIRE(place.brim({"plan", "--profile", "small.json", "--json", "plan.json"}).code == 0);
  CHECK(place.brim({"verify", "plan.json"}).out ==
        "ok: plan.json: 1f1b, 4 devices, 4 microbatches, 1 step of 210.0 ms, transport one_queue: 80 instructions (32 "
        "pipeline, "
        "0 second-order, 24 sends), 46 waits\n");
}

TEST_CASE("a profile of one stage is one stage a device, also where it is cut into chunks") {
  const workshop place("repeated");
  write(place / "four.json", small_profile());
  std::string one = small_profile();
  one.replace(one.find("\"count\": 4, "), 12, "");
  write(place / "one.json", one);
  for (const std::string scheme : {"1f1b", "looped-bfs"}) {
    const std::string chunks = scheme == "1f1b" ? "1" : "2";
    const auto plan = [&](const char* profile) {
      return place.brim({"plan", "--profile", profile, "--devices", "4", "--scheme", scheme, "--chunks", chunks});
    };
    CHECK(plan("one.json").code == 0);
    CHECK(plan("one.json").out == plan("four.json").out);
  }
  CHECK(place.brim({"plan", "--profile", "one.json"}).code == 2);
  CHECK(place.brim({"compare", "--profile", "one.json", "--devices", "4"}).out ==
        place.brim({"compare", "--profile", "four.json"}).out);
}

TEST_CASE("chunks that the profile lists are taken as they are") {
  const workshop place("listed");
  write(place / "small.json", small_profile());
  const result got = place.brim({"plan", "--profile", "small.json", "--scheme", "looped-bfs", "--chunks", "2"});
  CHECK(got.code == 0);
  CHECK(got.out.rfind("looped-bfs: 2 devices, 2 microbatches, 2 chunks; small\n\n", 0) == 0);
}

TEST_CASE("help and version go to standard output and exit with 0") {
  const workshop place("help");
  for (const std::string command : {"", "plan", "compare", "verify", "schemes"}) {
    CAPTURE(command);
    const result got = command.empty() ? place.brim({"--help"}) : place.brim({command, "--help"});
    CHECK(got.code == 0);
    CHECK(got.err == "");
    CHECK(got.out.find("Usage: brim " + command) != std::string::npos);
  }
  const std::string help = place.brim({"plan", "--help"}).out;
  for (const std::string option :
       {"--scheme",   "--profile",      "--devices", "--microbatches", "--chunks", "--pairs",
        "--replicas", "--memory-limit", "--fill",    "--fill-policy",  "--steps",  "--margin",
        "--panels",   "--transport",    "--json",    "--trace",        "--svg",    "--dot",
        "--csv",      "--width",        "--color",   "Examples",       "[1f1b]"})
    CHECK_MESSAGE(help.find(option) != std::string::npos, option);
  const std::string version = std::to_string(brim::version_major) + '.' + std::to_string(brim::version_minor) + '.' +
                              std::to_string(brim::version_patch);
  CHECK(place.brim({"--version"}).out == "brim " + version + "\n");
}

TEST_CASE("every file is written as a whole, and none where one of them cannot be") {
  const workshop place("files_written");
  write(place / "small.json", small_profile());
  const result got = place.brim({"plan", "--profile", "small.json", "--fill", "kfac", "--json", "a.json", "--trace",
                                 "b.json", "--svg", "c.svg", "--dot", "d.dot", "--csv", "e.csv"});
  CHECK(got.code == 0);
  CHECK(place.files() == std::set<std::string>{"small.json", "a.json", "b.json", "c.svg", "d.dot", "e.csv"});
  for (const std::string name : {"a.json", "b.json", "c.svg", "d.dot", "e.csv"}) {
    CHECK(got.out.find("wrote " + name + "  ") != std::string::npos);
    CHECK(content_of(place / name).back() == '\n');
  }
  CHECK(content_of(place / "d.dot").rfind("digraph", 0) == 0);
  CHECK(content_of(place / "c.svg").find("</svg>") != std::string::npos);
  CHECK(content_of(place / "e.csv").rfind("scheme,devices,", 0) == 0);
  CHECK(place.brim({"plan", "--profile", "small.json", "--json", "/dev/stdout"})
            .out.find("\"format\": \"brim.plan/1\"") != std::string::npos);

  write(place / "a.json", "old");
  CHECK(place.brim({"plan", "--profile", "small.json", "--svg", "no/such/folder", "--json", "a.json"}).code == 2);
  CHECK(content_of(place / "a.json") == "old");
  CHECK(place.files() == std::set<std::string>{"small.json", "a.json", "b.json", "c.svg", "d.dot", "e.csv"});
}

TEST_CASE("a full disk behind standard output is noticed") {
  const std::string command = "'" + test_support::tool().string() + "' schemes >/dev/full 2>/dev/null";
  const int status = std::system(command.c_str());
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 2);
}

TEST_CASE("the check for control characters can fail") {
  CHECK(control_character("a\nb") == -1);
  CHECK(control_character("a\033[0m") == 27);
  CHECK(control_c1("a\xC2\x9B"));
  CHECK(!control_c1("a\xC2\xA0"));
}
