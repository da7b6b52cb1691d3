// SPDX-License-Identifier: Apache-2.0
// What the command says to requests that it cannot fulfil: exit code, one line that names field or rule and value, no file.
#include "tool.hpp"

#include <algorithm>

namespace {

using namespace tool_test;

struct bad_request {
  std::vector<std::string> words;
  int code;
  std::vector<std::string> says;
  int lines = 1;
};

/// Empty where the command behaves as a bad request deserves.
std::string complaint(const result& got, const bad_request& want) {
  if (got.code != want.code)
    return "exit code " + std::to_string(got.code) + ", expected " + std::to_string(want.code) +
           "; it says: " + got.err;
  if (!got.out.empty()) return "it prints: " + got.out;
  if (got.err.rfind("brim: ", 0) != 0) return "the message does not begin with brim: " + got.err;
  if (got.err.back() != '\n' || std::count(got.err.begin(), got.err.end(), '\n') != want.lines)
    return "the message is not " + std::to_string(want.lines) + " lines: " + got.err;
  for (const std::string& words : want.says)
    if (got.err.find(words) == std::string::npos) return "the message lacks \"" + words + "\": " + got.err;
  return {};
}

void check(const workshop& place, const std::vector<bad_request>& requests) {
  for (const bad_request& request : requests) {
    const std::set<std::string> before = place.files();
    std::string line;
    for (const std::string& word : request.words) line += ' ' + word;
    INFO("brim" << line);
    CHECK(complaint(place.brim(request.words), request) == "");
    CHECK(place.files() == before);
  }
}

}  // namespace

TEST_CASE("a wrong command line exits with 2") {
  const workshop place("usage");
  const std::string base = "base.json";  // a copy: a command that forgets its checks would overwrite it
  write(place / base, content_of(example("bert-base-p100")));
  check(
      place,
      {
          {{}, 2, {"--help"}},
          {{"frobnicate"}, 2, {"no command \"frobnicate\"", "plan, compare, search, verify or schemes"}},
          {{"plan"}, 2, {"--profile is required"}},
          {{"plan", "--profile", base, "--scheme", "zigzag"},
           2,
           {"--scheme \"zigzag\"", "gpipe, 1f1b, eager-1f1b, ", ", gems, auto"}},
          {{"plan", "--profile", base, "--fill-policy", "best"}, 2, {"\"best\"", "oldest-longest", "pipefisher-rule"}},
          {{"plan", "--profile", base, "--transport", "pigeon"}, 2, {"\"pigeon\"", "one_queue"}},
          {{"plan", "--profile", base, "--fill", "shampoo"}, 2, {"\"shampoo\"", "none, kfac"}},
          {{"plan", "--profile", base, "--no-such-option"}, 2, {"no option --no-such-option; see brim plan --help"}},
          {{"plan", "--profil", base}, 2, {"no option --profil; did you mean --profile?"}},
          {{"plan", "--profil=" + base}, 2, {"no option --profil; did you mean --profile?"}},
          {{"compare", "--mircobatches", "4"}, 2, {"--mircobatches; did you mean --microbatches?"}},
          {{"verify", "--fast"}, 2, {"no option --fast; see brim verify"}},
          {{"--verson"}, 2, {"--verson; did you mean --version?"}},
          {{"plan", "a\033[31m\nred", "--profile", base}, 2, {"a\\u001b[31m\\u000ared"}},
          {{"plan", "--profile", base, "--microbatches", "many"}, 2, {"--microbatches", "\"many\"", "whole number"}},
          {{"plan", "--profile", base, "--microbatches", "99999999999999999999"}, 2, {"99999999999999999999"}},
          {{"plan", "--profile", base, "--margin", "nan"}, 2, {"--margin"}},
          {{"plan", "--profile", base, "--steps", "-1"}, 2, {"--steps is -1", "0 to 4096"}},
          {{"plan", "--profile", base, "--width", "5"}, 2, {"--width is 5"}},
          {{"plan", "--profile", base, "--memory-limit", "16 parsecs"}, 2, {"16 parsecs", "16GiB"}},
          {{"plan", "--profile", base, "--memory-limit", "-1GiB"}, 2, {"-1GiB"}},
          {{"plan", "--profile", base, "--pairs", "2"}, 2, {"--pairs", "1f1b"}},
          {{"plan", "--profile", base, "--replica", "1"}, 2, {"--replica is 1"}},
          {{"plan", "--profile", base, "--json", ""}, 2, {"--json"}},
          {{"plan", "--profile", base, "--json", "x", "--svg", "./x"}, 2, {"--json and --svg", "same file"}},
          {{"plan", "--profile", base, "--csv", base}, 2, {"--profile and --csv", "same file"}},
          {{"plan", "--profile", base, "--chunks", "3", "--scheme", "looped-bfs"}, 2, {"--devices is missing"}},
          {{"compare", "--profile", base, "--schemes", "gpipe,zigzag"}, 2, {"no scheme \"zigzag\"", "v-min"}},
          {{"compare", "--profile", base, "--schemes", ""}, 2, {"no scheme \"\""}},
          {{"search"}, 2, {"--profile is required"}},
          {{"search", "--profile", base, "--budget", "soon"}, 2, {"--budget is \"soon\"", "250ms"}},
          {{"search", "--profile", base, "--budget", "0s"}, 2, {"--budget is \"0s\""}},
          {{"plan", "--profile", base, "--scheme", "auto", "--budget", "-5"}, 2, {"--budget is \"-5\""}},
          {{"plan", "--profile", base, "--budget", "99999999s"}, 2, {"at most a day"}},
          {{"plan", "--profile", base, "--objective", "fun"}, 2, {"\"fun\"", "makespan, span, period"}},
          {{"search", "--profile", base, "--fill", "kfac"}, 2, {"no option --fill"}},
          {{"verify"}, 2, {"FILE"}},
          {{"schemes", "all"}, 2, {"all"}},
      });
}

TEST_CASE("an unreadable or unwritable file exits with 2") {
  const workshop place("files");
  const std::string base = example("bert-base-p100");
  write(place / "nan.json", R"({"format": "brim.profile/1", "stages": [{"forward": NaN, "backward": 1}]})");
  write(place / "negative.json", R"({"format": "brim.profile/1", "stages": [{"forward": -1, "backward": 1}]})");
  write(place / "unknown.json",
        R"({"format": "brim.profile/1", "stages": [{"forward": 1, "backward": 1, "sideward": 1}]})");
  write(place / "empty.json", R"({"format": "brim.profile/1", "stages": []})");
  write(place / "cut.json", R"({"format": "brim.profile/1", "sta)");
  check(place,
        {
            {{"plan", "--profile", "missing.json"}, 2, {"missing.json", "cannot read"}},
            {{"plan", "--profile", "."}, 2, {"cannot read"}},
            {{"plan", "--profile", "nan.json", "--devices", "2"}, 2, {"nan.json", "line 1", "stages[0].forward"}},
            {{"plan", "--profile", "negative.json", "--devices", "2"}, 2, {"stages[0].forward", "-1"}},
            {{"plan", "--profile", "unknown.json", "--devices", "2"}, 2, {"sideward"}},
            {{"plan", "--profile", "empty.json"}, 2, {"stages"}},
            {{"plan", "--profile", "cut.json"}, 2, {"cut.json", "line 1"}},
            {{"compare", "--profile", "cut.json"}, 2, {"cut.json"}},
            {{"verify", "missing.json"}, 2, {"missing.json"}},
            {{"verify", base}, 2, {"format", "brim.plan/1"}},
            {{"plan", "--profile", base, "--json", "no/such/folder/x.json"},
             2,
             {"no/such/folder/x.json", "cannot write"}},
            {{"plan", "--profile", base, "--svg", "."}, 2, {"cannot write"}},
            {{"plan", "--profile", base, "--json", "/dev/full"}, 2, {"/dev/full", "cannot write"}},
        });
}

TEST_CASE("an impossible request exits with 1") {
  const workshop place("impossible");
  const std::string base = example("bert-base-p100");
  const auto one = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"plan", "--profile", "one.json"});
    return more;
  };
  write(place / "one.json", R"({"format": "brim.profile/1", "time_unit": "ms", "stages": [{"forward": 1, "backward": 2,
    "layers": [{"statistic": {"a": 1}, "refresh": {"a": 900}}]}]})");
  write(place / "plain.json", R"({"format": "brim.profile/1", "stages": [{"forward": 1, "backward": 2}]})");
  write(place / "links.json", small_profile(R"(, "links": {"p2p": [1, 2]})"));
  write(place / "limited.json", small_profile(R"(, "devices": [{"memory": 150}])"));
  check(place,
        {
            {one({"--devices", "3", "--scheme", "chimera"}),
             1,
             {"chimera", "multiple of twice the number of pairs", "devices=3"}},
            {one({"--devices", "1", "--scheme", "chimera"}), 1, {"devices=1"}},
            {one({"--devices", "4", "--scheme", "1f1b", "--chunks", "2"}), 1, {"1f1b", "chunks must be 1"}},
            {one({"--devices", "4", "--microbatches", "1000000000"}), 1, {"microbatches=1000000000", "2^26"}},
            {one({"--devices", "4", "--microbatches", "10000000000"}), 1, {"--microbatches is 10000000000"}},
            {one({"--devices", "1", "--microbatches", "30000000"}), 1, {"2^23", "microbatches=30000000"}},
            {one({"--devices", "0"}), 1, {"at least one device", "devices=0"}},
            {one({"--devices", "-4"}), 1, {"at least one device", "devices=-4"}},
            {one({"--devices", "4", "--microbatches", "0"}), 1, {"at least one microbatch"}},
            {one({"--devices", "4", "--chunks", "0"}), 1, {"at least one chunk"}},
            {one({"--devices", "2", "--fill", "kfac", "--replicas", "0"}), 1, {"replicas is 0"}},
            {one({"--devices", "1", "--fill", "kfac"}), 1, {"statistic a", "longest bubble of the device is 0"}},
            {one({"--devices", "2", "--fill", "kfac", "--panels", "never"}), 1, {"refresh a", "longest bubble"}},
            {{"plan", "--profile", "plain.json", "--devices", "4", "--fill", "kfac"}, 1, {"no layers"}},
            {{"plan", "--profile", base, "--devices", "8"}, 1, {base + ": stages: it lists 4 stages; expected 8"}},
            {{"plan", "--profile", "links.json"}, 1, {"brim: links.json: links.p2p: it lists 2 times; expected 3"}},
            {{"plan", "--profile", base, "--memory-limit", "100MiB"}, 1, {"device 0", "limit is 100.0 MiB;"}},
            {{"plan", "--profile", base, "--memory-limit", "1000MB"}, 1, {"limit is 953.7 MiB (1000000000 bytes);"}},
            {{"plan", "--profile", base, "--memory-limit", "3.4GiB", "--fill", "kfac"}, 1, {"factors", "device 0"}},
            {one({"--devices", "4", "--scheme", "auto", "--chunks", "2"}), 1, {"auto", "chunks must be 1"}},
            {{"plan", "--profile", base, "--scheme", "auto", "--memory-limit", "100MiB"}, 1, {"stage 0", "100.0 MiB"}},
            {{"search", "--profile", base, "--memory-limit", "100MiB"}, 1, {"stage 0", "one microbatch", "100.0 MiB"}},
            {{"plan", "--profile", "limited.json"}, 1, {"1f1b", "device 0", "limit is 150.0 MiB"}},
            {{"compare", "--profile", base, "--memory-limit", "1MiB"},
             1,
             {"no scheme can be planned\n  gpipe: device 0",
              "\n  1f1b: ", "\n  looped-bfs: ", "\n  chimera: ", "\n  auto: ", "1.0 MiB;"},
             19},
            {{"compare", "--profile", "plain.json", "--devices", "4", "--pairs", "0"}, 1, {"at least one pair"}},
            {{"compare", "--profile", base, "--microbatches", "1000000000"}, 1, {"2^26"}},
        });
}

TEST_CASE("the check of a message can fail") {
  const bad_request want{{}, 1, {"rule"}};
  CHECK(complaint({1, "", "brim: the rule\n"}, want) == "");
  CHECK(complaint({2, "", "brim: the rule\n"}, want) != "");
  CHECK(complaint({1, "half", "brim: the rule\n"}, want) != "");
  CHECK(complaint({1, "", "the rule\n"}, want) != "");
  CHECK(complaint({1, "", "brim: the rule\nand more\n"}, want) != "");
  CHECK(complaint({1, "", "brim: the rule\nand more\n"}, {{}, 1, {"rule"}, 2}) == "");
  CHECK(complaint({1, "", "brim: something\n"}, want) != "");
}

TEST_CASE("what waits for statistics respects the limit, and a policy that cannot is refused") {
  const workshop place("kept");
  write(place / "small.json", small_profile());
  // 4 x 50 + 100 MiB of the pipeline and 16 MiB of factors leave the rest for inputs and errors that wait.
  const auto plan = [&](const char* limit, const char* policy) {
    return place.brim(
        {"plan", "--profile", "small.json", "--memory-limit", limit, "--fill", "kfac", "--fill-policy", policy});
  };
  CHECK(plan("1GiB", "pipefisher-rule").code == 0);
  const result tight = plan("317MiB", "pipefisher-rule");
  CHECK(complaint(tight, {{}, 1, {"device 0 would keep", "1.0 MiB left"}}) == "");
  CHECK(plan("317MiB", "oldest-longest").code == 1);
}
