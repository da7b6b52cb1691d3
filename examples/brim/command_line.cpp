// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include "catalogue.hpp"
#include "words.hpp"

#include <brim/core/text.hpp>
#include <brim/io/units.hpp>
#include <brim/plan/transport.hpp>
#include <brim/version.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

namespace tool {
namespace {

using brim::detail::text;

constexpr std::string_view overview =
    "Plans pipeline-parallel training steps, and second-order optimizer work (K-FAC) in their bubbles.\n"
    "From a measured profile it answers: what does the pipeline waste, can K-FAC live in the bubbles, how\n"
    "fresh will its curvature be, what does it cost in time and memory. Then it writes a verified plan.";

constexpr std::string_view overview_examples =
    "Begin with\n"
    "  brim schemes                                              what there is to choose from\n"
    "  brim compare --profile bert-large-p100.json               which scheme suits this profile\n"
    "  brim search --profile bert-large-p100.json                what more memory would buy\n"
    "  brim plan --profile bert-large-p100.json --scheme chimera --fill kfac --json plan.json --svg plan.svg\n"
    "  brim verify plan.json                                     is this plan right\n"
    "`brim plan --help` explains every option. Profiles to try are in examples/profiles.\n"
    "Exit code: 0 good; 1 the request is impossible or the plan is wrong; 2 wrong usage or an unreadable file.";

constexpr std::string_view plan_examples =
    "Examples\n"
    "  brim plan --profile bert-base-p100.json                       1f1b with the profile's 4 devices, 4 "
    "microbatches\n"
    "  brim plan --profile bert-base-p100.json --microbatches 16     smaller bubbles, the same memory\n"
    "  brim plan --profile bert-base-p100.json --scheme chimera --fill kfac --svg chimera.svg\n"
    "  brim plan --profile bert-base-p100.json --devices 4 --chunks 2 --scheme interleaved-1f1b\n"
    "  brim plan --profile bert-large-p100-head.json --scheme gpipe --memory-limit 16GiB --fill kfac\n"
    "  brim plan --profile bert-large-p100-head.json --scheme auto --memory-limit 12GiB\n"
    "A plan is verified before anything is written. Exit code 1: the request is impossible; the message names the "
    "rule.";

constexpr std::string_view compare_examples =
    "Examples\n"
    "  brim compare --profile bert-large-p100-head.json\n"
    "  brim compare --profile bert-base-p100.json --microbatches 16 --memory-limit 16GiB --fill none\n"
    "Take the scheme with the least makespan that fits your memory, then: brim plan.";

constexpr std::string_view search_examples =
    "Examples\n"
    "  brim search --profile bert-large-p100-head.json --microbatches 16\n"
    "  brim search --profile bert-large-p100-head.json --objective period --budget 1s\n"
    "Take the row that fits your memory, then: brim plan --scheme auto --memory-limit SIZE.";

constexpr std::size_t option_width = 72;  // of the column beside an option

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

/// How many letters must be put in, left out or changed to make one word of the other.
std::size_t edits_between(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char letter : one) {
    std::size_t before = row[0]++;  // of the row above, one column to the left
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, before + (letter == other[j] ? 0 : 1)});
      before = above;
    }
  }
  return row.back();
}

/// The option of a command that a word may have been meant for; empty where none is near.
std::string nearest(std::string_view word, const CLI::App& command) {
  std::string best;
  std::size_t least = 3;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames())
      if (const std::size_t edits = edits_between(word, "--" + name); edits < least) {
        least = edits;
        best = "--" + name;
      }
  return best;
}

/// The names in a list with commas. Errors: `usage_error`.
std::vector<std::string> listed_schemes(std::string_view words) {
  const std::vector<std::string> known = scheme_names();
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find(',', at), words.size());
    names.emplace_back(words.substr(at, end - at));
    if (std::find(known.begin(), known.end(), names.back()) == known.end())
      throw usage_error(text("there is no scheme \"", names.back(), "\"; expected some of ", joined(known)));
    at = end + 1;
  }
  return names;
}

/// Builds the options; the values land in requests that outlive the parser.
class parser {
 public:
  parser() : app_(std::string(overview), "brim") {
    const auto formatter = std::make_shared<CLI::Formatter>();
    formatter->column_width(26);
    app_.formatter(formatter);
    app_.set_version_flag("--version",
                          text("brim ", brim::version_major, ".", brim::version_minor, ".", brim::version_patch));
    app_.require_subcommand(1);
    app_.footer(std::string(overview_examples));
    add_plan();
    add_compare();
    add_search();
    verify_ =
        app_.add_subcommand("verify", "Check a plan file: structure, order, transfers, events, no deadlock, times.");
    verify_->add_option("FILE", verify_request_.file, "a plan written by brim plan --json")->required();
    verify_->footer(
        "Prints one line and exits with 0 where the plan is right; 1 and the fault where it is wrong; 2 where it "
        "cannot be read.");
    schemes_ = app_.add_subcommand("schemes", "List the schemes: bubble, memory, which shapes they accept.");
  }

  request parse(int count, const char* const* words) {
    try {
      app_.parse(count, words);
    } catch (const CLI::CallForVersion& asked) {
      return help_request{std::string(asked.what()) + '\n'};
    } catch (const CLI::CallForHelp&) {
      return help_request{help()};
    } catch (const CLI::CallForAllHelp&) {
      return help_request{help()};
    } catch (const CLI::ParseError& error) {
      if (asked() == &app_ && count > 1 && words[1][0] != '-')
        throw usage_error(
            text("there is no command \"", words[1], "\"; expected plan, compare, search, verify or schemes"));
      throw usage_error(wrong_words(error) + "; see brim " + (asked() == &app_ ? "" : asked()->get_name() + ' ') +
                        "--help");
    }
    if (*plan_) {
      finish(plan_request_.job);
      return plan_request_;
    }
    if (*compare_) {
      finish(compare_request_.job);
      return compare_request_;
    }
    if (*search_) {
      finish(search_request_.job);
      return search_request_;
    }
    if (*verify_) return verify_request_;
    return schemes_request{};
  }

 private:
  [[nodiscard]] CLI::App* asked() {
    for (CLI::App* command : {plan_, compare_, search_, verify_, schemes_})
      if (command->parsed()) return command;
    return &app_;
  }
  /// An option that does not exist explains why another one is missing, so it goes first.
  std::string wrong_words(const CLI::ParseError& error) {
    for (const std::string& word : asked()->remaining()) {
      if (!word.starts_with('-')) continue;
      const std::string name = word.substr(0, word.find('='));
      const std::string meant = nearest(name, *asked());
      return text("there is no option ", name, meant.empty() ? "" : "; did you mean ", meant, meant.empty() ? "" : "?");
    }
    return error.what();
  }
  std::string help() { return asked()->help(asked() == &app_ ? "" : "brim"); }

  /// An option whose word goes through `take`.
  template <class Take>
  static CLI::Option* option(CLI::App* command, const std::string& name, const std::string& kind,
                             const std::string& meaning, Take take) {
    return command->add_option_function<std::string>(name, take, wrapped(meaning, option_width))->option_text(kind);
  }
  /// One of a few words.
  static void choice(CLI::App* command, const std::string& name, std::string& value,
                     const std::vector<std::string>& choices, const std::string& meaning) {
    option(command, name, "NAME", text(meaning, "; one of ", joined(choices), " [", value, "]"),
           [&value, choices, name](const std::string& word) {
             if (std::find(choices.begin(), choices.end(), word) == choices.end())
               throw usage_error(text("there is no ", name, " \"", word, "\"; expected one of ", joined(choices)));
             value = word;
           });
  }
  template <class Number>
  static void number(CLI::App* command, const std::string& name, Number& value, const std::string& meaning) {
    constexpr bool whole = std::is_integral_v<Number>;
    option(command, name, whole ? "N" : "PERCENT", meaning, [&value, name](const std::string& word) {
      const auto [rest, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (failed != std::errc{} || rest != word.data() + word.size())
        throw usage_error(text(name, " is \"", word, "\"; expected a ", whole ? "whole number" : "number"));
    });
  }
  static CLI::Option* file(CLI::App* command, const std::string& name, std::string& value, const std::string& meaning) {
    return option(command, name, "FILE", meaning, [&value, name](const std::string& word) {
      if (word.empty()) throw usage_error(name + " has no file name");
      value = word;
    });
  }

  void add_job(CLI::App* command, job_request& job) {
    file(command, "--profile", job.profile, "measured times and memory, brim.profile/1 JSON; required")->required();
    number(command, "--devices", job.devices,
           "pipeline devices [as many as the profile has stages for; needed where it lists one stage, which stands for "
           "every device]");
    number(command, "--microbatches", job.microbatches,
           "microbatches of one step over all routes [as many as devices]");
    option(command, "--memory-limit", "SIZE",
           "what every device has, e.g. 16GiB; a limit in the profile holds as well [none]",
           [&job](const std::string& word) { job.memory_limit = parse_size(word); });
  }
  void add_fill(CLI::App* command, job_request& job, std::string& fill) {
    choice(command, "--fill", fill, {"none", "kfac"}, "optional work for the bubbles");
    choice(command, "--fill-policy", job.policy, policy_names(), "which piece goes into a bubble next");
    number(command, "--steps", job.steps, "longest table of steps; 0: 32, or twice the load where that is more [0]");
    number(command, "--margin", job.margin_percent,
           "percent of its own length that a piece must leave free in a bubble [5]");
    choice(command, "--panels", job.panels, {"never", "when-needed", "always"}, "cut inversions into panels");
  }

  void add_plan() {
    plan_ = app_.add_subcommand("plan",
                                "Plan one scheme: what it wastes, what a fill makes of it, the timeline, the plan.");
    plan_request& r = plan_request_;
    add_job(plan_, r.job);
    choice(plan_, "--scheme", r.scheme, scheme_names(), "order of the pipeline; see brim schemes");
    number(plan_, "--chunks", r.job.chunks,
           "stages that a device holds on one route; a profile with one stage a device is cut [1]");
    number(plan_, "--pairs", r.job.pairs, "pairs of opposite routes, for chimera [1]");
    number(plan_, "--replicas", r.job.replicas, "data-parallel copies of the pipeline, which share the K-FAC work [1]");
    number(plan_, "--replica", r.replica, "the copy whose plan --json writes [0]");
    add_fill(plan_, r.job, plan_fill_);
    add_search_options(plan_, r.job.search, objective_);
    std::vector<std::string> transports;
    for (std::size_t i = 0; i < brim::transport_count; ++i)
      transports.emplace_back(name_of(static_cast<brim::transport>(i)));
    choice(plan_, "--transport", r.transport, transports,
           "what sends and receives do to a device; the plan is free of deadlock on it");
    file(plan_, "--json", r.json, "write the plan (brim.plan/1)");
    file(plan_, "--trace", r.trace, "write a Chrome trace, for ui.perfetto.dev");
    file(plan_, "--svg", r.svg, "write a picture of the timeline");
    file(plan_, "--dot", r.dot, "write the graph of one step, for Graphviz");
    file(plan_, "--csv", r.csv, "write the metrics of every device");
    number(plan_, "--width", r.width, "columns of the printed timeline, 10 to 1000 [100]");
    choice(plan_, "--color", colour_, {"auto", "never"}, "colours: auto only on a terminal");
    plan_->footer(std::string(plan_examples));
  }
  void add_search_options(CLI::App* command, search_wishes& wishes, std::string& objective) {
    choice(command, "--objective", objective, {"makespan", "span", "period"},
           "what --scheme auto makes short: a step with a barrier, the longest device, or a step without a barrier");
    option(command, "--budget", "TIME|N",
           "of the search: a time as 1s or 250ms, or operations, the same everywhere [2.5 million and 150 an action]",
           [&wishes](const std::string& word) { parse_budget(word, wishes); });
  }
  void add_search() {
    search_ = app_.add_subcommand("search", "Search the best order for one stage a device, for more and more memory.");
    add_job(search_, search_request_.job);
    add_search_options(search_, search_request_.job.search, objective_);
    search_->footer(std::string(search_examples));
  }
  void add_compare() {
    compare_ = app_.add_subcommand("compare", "Compare all schemes on one profile, in one table.");
    compare_request_.job.chunks = 2;
    add_job(compare_, compare_request_.job);
    option(compare_, "--schemes", "A,B,...", "only these, in the table's order; see brim schemes [all]",
           [this](const std::string& words) { compare_request_.schemes = listed_schemes(words); });
    number(compare_, "--pairs", compare_request_.job.pairs, "pairs of opposite routes, for chimera [1]");
    number(compare_, "--chunks", compare_request_.job.chunks,
           "chunks of the schemes that take several; the profile's stages are cut [2]");
    add_fill(compare_, compare_request_.job, compare_fill_);
    compare_->footer(std::string(compare_examples));
  }

  /// What no single option can check or translate.
  void finish(job_request& job) {
    job.search.goal = objective_ == "span"     ? brim::length_kind::longest_span
                      : objective_ == "period" ? brim::length_kind::period
                                               : brim::length_kind::makespan;
    job.fill = (*plan_ ? plan_fill_ : *compare_ ? compare_fill_ : "none") == "kfac" ? fill_kind::kfac : fill_kind::none;
    plan_request_.colour = colour_ == "never" ? colour_rule::never : colour_rule::when_terminal;
    if (!(job.margin_percent >= 0 && job.margin_percent <= 1000))
      throw usage_error("--margin is out of range; expected 0 to 1000 percent");
    if (job.steps < 0 || job.steps > 4096) throw usage_error(text("--steps is ", job.steps, "; expected 0 to 4096"));
    if (plan_request_.width < 10 || plan_request_.width > 1000)
      throw usage_error(text("--width is ", plan_request_.width, "; expected 10 to 1000 columns"));
  }

  CLI::App app_;
  CLI::App* plan_ = nullptr;
  CLI::App* compare_ = nullptr;
  CLI::App* search_ = nullptr;
  CLI::App* verify_ = nullptr;
  CLI::App* schemes_ = nullptr;
  plan_request plan_request_;
  compare_request compare_request_;
  search_request search_request_;
  verify_request verify_request_;
  std::string plan_fill_ = "none";
  std::string compare_fill_ = "kfac";
  std::string objective_ = "makespan";
  std::string colour_ = "auto";
};

[[noreturn]] void refuse_size(std::string_view word) {
  throw usage_error(
      text("\"", word, "\" is not a size; expected a number and a unit, as in 16GiB (B, KiB, MiB, GiB, kB, MB, GB)"));
}

}  // namespace

request parse_command_line(int count, const char* const* words) { return parser().parse(count, words); }

void parse_budget(std::string_view word, search_wishes& wishes) {
  std::int64_t value = 0;
  const auto [rest, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  const std::string_view unit(rest, static_cast<std::size_t>(word.data() + word.size() - rest));
  constexpr std::int64_t most_milliseconds = 86'400'000;
  if (failed != std::errc{} || value < 1 || (!unit.empty() && unit != "s" && unit != "ms"))
    throw usage_error(text("--budget is \"", word, "\"; expected a time as 1s or 250ms, or a number of operations"));
  if (unit.empty()) {
    wishes.operations = value;
    return;
  }
  const std::int64_t scale = unit == "s" ? 1'000 : 1;
  if (value > most_milliseconds / scale) throw usage_error(text("--budget is ", word, "; expected at most a day"));
  wishes.milliseconds = scale * value;
}

brim::bytes parse_size(std::string_view word) {
  double value = 0;
  const auto [rest, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failed != std::errc{} || !std::isfinite(value)) refuse_size(word);
  std::string_view unit(rest, static_cast<std::size_t>(word.data() + word.size() - rest));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const brim::detail::named_unit& known : brim::detail::memory_units)
    if (known.name == unit) {
      const double amount = value * static_cast<double>(known.scale);
      if (!(amount >= 1 && amount <= static_cast<double>(brim::largest_memory)))
        throw usage_error(text("a memory limit of ", word, " is out of range; expected 1 byte to 2^50 bytes"));
      return static_cast<brim::bytes>(amount);
    }
  refuse_size(word);
}

}  // namespace tool
