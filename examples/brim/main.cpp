// SPDX-License-Identifier: Apache-2.0
// The brim command. docs/reference/brim_tool.md is its manual.
//
// Exit code 0: done. 1: the request is impossible or the plan is wrong. 2: the command line is wrong, or a file cannot be
// read or written.
#include "command_line.hpp"
#include "commands.hpp"
#include "words.hpp"

#include <brim/core/error.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace {

enum exit_code : int { done = 0, impossible = 1, unusable = 2 };

struct run {
  std::string operator()(const tool::help_request& asked) const { return asked.text; }
  std::string operator()(const tool::schemes_request&) const { return tool::run_schemes(); }
  std::string operator()(const tool::plan_request& asked) const { return tool::run_plan(asked); }
  std::string operator()(const tool::compare_request& asked) const { return tool::run_compare(asked); }
  std::string operator()(const tool::search_request& asked) const { return tool::run_search(asked); }
  std::string operator()(const tool::verify_request& asked) const { return tool::run_verify(asked); }
};

int fail(exit_code code, std::string_view sentence) {
  std::fprintf(stderr, "brim: %s\n", tool::readable(tool::printable(sentence)).c_str());
  return code;
}

/// As above, of several lines: where every stream of a deadlock stopped, why each scheme refuses.
int fail_in_lines(exit_code code, std::string_view lines) {
  std::string said = "brim: ";
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    said += tool::readable(tool::printable(lines.substr(0, end))) + '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  std::fputs(said.c_str(), stderr);
  return code;
}

}  // namespace

int main(int count, char** words) {
  try {
    const std::string out = std::visit(run{}, tool::parse_command_line(count, words));
    if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size() || std::fflush(stdout) != 0)
      return fail(unusable, "cannot write to standard output");
    return done;
  } catch (const tool::usage_error& error) {
    return fail(unusable, error.what());
  } catch (const brim::error& error) {
    const bool file = error.code() == brim::error_code::bad_file || error.code() == brim::error_code::io_failure;
    return file ? fail(unusable, error.what()) : fail_in_lines(impossible, error.what());
  } catch (const std::bad_alloc&) {
    return fail(impossible, "not enough memory for this request");
  } catch (const std::exception& error) {
    return fail(impossible, error.what());
  } catch (...) {
    return fail(impossible, "unknown failure");
  }
}
