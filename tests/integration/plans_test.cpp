// SPDX-License-Identifier: Apache-2.0
// Plans that the command writes: right by its own judgement for every scheme and fill, the same bytes every time, and
// refused as soon as they are tampered with.
#include "tool.hpp"

#include <algorithm>

namespace {

using namespace tool_test;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string without_line(const std::vector<std::string>& lines, std::size_t left_out) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (i != left_out) text += lines[i] + '\n';
  return text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, "the plan has no " << from);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("every scheme and every fill gives a plan that verify accepts, the same one twice") {
  const workshop place("plans");
  write(place / "small.json", small_profile());
  const std::set<std::string> one_chunk{"gpipe", "1f1b",  "eager-1f1b", "seq-1f1b", "chimera",
                                        "gems",  "zb-h1", "zb-h2",      "auto"};
  const std::set<std::string> chunks{
      "interleaved-1f1b", "looped-bfs", "interleaved-zb", "grouped-interleave", "zb-v", "v-half", "v-min",
      "hanayo",           "bitpipe"};
  std::set<std::string> all = one_chunk;
  all.insert(chunks.begin(), chunks.end());
  // their small bubbles make a fill long to search, and all of that is tested without the command
  const std::set<std::string> searched_long{
      "interleaved-zb", "grouped-interleave", "zb-v", "v-half", "v-min", "hanayo", "bitpipe", "gems",
      "zb-h2",          "eager-1f1b"};
  const std::string listed = place.brim({"schemes"}).out;
  CHECK(std::count(listed.begin(), listed.end(), '\n') >= static_cast<std::ptrdiff_t>(all.size()));
  for (const std::string& scheme : all)
    for (const std::string policy :
         {"none", "oldest-longest", "earliest-deadline", "first-fit", "best-fit", "pipefisher-rule"}) {
      if (searched_long.count(scheme) > 0 && policy != "none" && policy != "first-fit") continue;
      CAPTURE(scheme);
      CAPTURE(policy);
      std::vector<std::string> words{"plan",   "--profile",  "small.json", "--scheme", scheme,
                                     "--json", "first.json", "--devices",  "4"};
      CHECK(listed.find('\n' + scheme + ' ') != std::string::npos);
      if (chunks.count(scheme) > 0) words.insert(words.end(), {"--chunks", "2"});
      if (policy != "none") words.insert(words.end(), {"--fill", "kfac", "--fill-policy", policy});
      const result first = place.brim(words);
      REQUIRE_MESSAGE(first.code == 0, first.err);
      CHECK(first.out.find("plan verified (transport one_queue)") != std::string::npos);
      CHECK((first.out.find("is cut into 2 equal chunks") != std::string::npos) ==
            (words.size() > 9 && words[9] == "--chunks"));
      const result checked = place.brim({"verify", "first.json"});
      CHECK_MESSAGE(checked.code == 0, checked.err);
      CHECK(checked.out.rfind("ok: first.json: " + scheme, 0) == 0);
      words[6] = "second.json";
      CHECK(place.brim(words).code == 0);
      CHECK(content_of(place / "first.json") == content_of(place / "second.json"));
    }
}

TEST_CASE("every transport is planned for and checked") {
  const workshop place("transports");
  write(place / "small.json", small_profile());
  for (const std::string transport : {"buffered", "one_queue", "queue_per_direction", "queue_per_edge", "blocking"}) {
    CAPTURE(transport);
    const result made = place.brim({"plan", "--profile", "small.json", "--scheme", "chimera", "--fill", "kfac",
                                    "--transport", transport, "--json", "x.json"});
    REQUIRE_MESSAGE(made.code == 0, made.err);
    CHECK(place.brim({"verify", "x.json"}).out.find("transport " + transport + ":") != std::string::npos);
  }
}

TEST_CASE("replicas share the work, and each has its plan") {
  const workshop place("replicas");
  write(place / "small.json", small_profile());
  for (const std::string replica : {"0", "1"}) {
    const result made = place.brim({"plan", "--profile", "small.json", "--fill", "kfac", "--replicas", "2", "--replica",
                                    replica, "--json", "x.json"});
    REQUIRE_MESSAGE(made.code == 0, made.err);
    CHECK(made.out.find("of replica " + replica) != std::string::npos);
    CHECK(place.brim({"verify", "x.json"}).code == 0);
  }
}

TEST_CASE("a plan that lacks any one entry is refused") {
  const workshop place("lacking");
  write(place / "small.json", small_profile());
  REQUIRE(place.brim({"plan", "--profile", "small.json", "--microbatches", "2", "--json", "plan.json"}).code == 0);
  const std::vector<std::string> lines = lines_of(content_of(place / "plan.json"));
  int tried = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool entry = lines[i].find("\"action\"") != std::string::npos || lines[i].find("\"op\"") != std::string::npos;
    if (!entry || lines[i].find("}]") != std::string::npos || lines[i].substr(lines[i].size() - 2) != "},")
      continue;  // without it the rest would not be JSON
    ++tried;
    write(place / "cut.json", without_line(lines, i));
    const result got = place.brim({"verify", "cut.json"});
    CHECK_MESSAGE(got.code == 1, "without " << lines[i] << ": " << got.code << ' ' << got.err);
    CHECK(got.out == "");
    CHECK(got.err.rfind("brim: ", 0) == 0);
  }
  CHECK(tried > 40);
}

TEST_CASE("a plan that was changed is refused") {
  const workshop place("changed");
  write(place / "small.json", small_profile());
  REQUIRE(
      place.brim({"plan", "--profile", "small.json", "--scheme", "chimera", "--fill", "kfac", "--json", "plan.json"})
          .code == 0);
  const std::string right = content_of(place / "plan.json");
  const auto code = [&](const std::string& text) {
    write(place / "x.json", text);
    const result got = place.brim({"verify", "x.json"});
    CHECK(got.out == "");
    return got.code;
  };
  CHECK(code(replaced(right, "\"op\": \"backward\"", "\"op\": \"forward\"")) == 1);
  CHECK(code(replaced(right, "\"op\": \"statistic\"", "\"op\": \"refresh\"")) == 1);
  CHECK(code(replaced(right, "\"peer\": 1", "\"peer\": 2")) == 1);
  const std::size_t wait = right.find("\"waits\": [");
  CHECK(code(right.substr(0, wait) + right.substr(right.find("], ", wait) + 3)) == 1);
  CHECK(code(replaced(right, ", \"records\": ", ", \"tag\": 77, \"records\": ")) == 1);
  CHECK(code(replaced(right, "\"transport\": \"one_queue\"", "\"transport\": \"blocking\"")) == 1);
  CHECK(code(replaced(right, "\"end\": 10000000", "\"end\": 90000000")) == 1);
  CHECK(code(replaced(right, "\"op\": \"backward\"", "\"op\": \"sideward\"")) == 2);
  CHECK(code(replaced(right, "\"devices\": 4", "\"devices\": 3")) == 2);
  CHECK(code(right.substr(0, right.size() / 2)) == 2);
  CHECK(code(right + right) == 2);
  CHECK(code("") == 2);
}
