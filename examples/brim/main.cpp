// SPDX-License-Identifier: Apache-2.0
// The brim command. docs/reference/brim_tool.md is its manual.
//
// Exit code 0: done. 1: the request is impossible or the plan is wrong. 2: the command line is wrong, or a file cannot be
// read or written.
#include "command_line.hpp"
#include "commands.hpp"

#include <brim/core/error.hpp>

#include <cstdio>
#include <exception>
#include <new>

namespace {

enum exit_code : int { done = 0, impossible = 1, unusable = 2 };

struct run {
  std::string operator()(const tool::help_request& asked) const { return asked.text; }
  std::string operator()(const tool::schemes_request&) const { return tool::run_schemes(); }
  std::string operator()(const tool::plan_request& asked) const { return tool::run_plan(asked); }
  std::string operator()(const tool::compare_request& asked) const { return tool::run_compare(asked); }
  std::string operator()(const tool::verify_request& asked) const { return tool::run_verify(asked); }
};

int fail(exit_code code, const char* sentence) {
  std::fprintf(stderr, "brim: %s\n", sentence);
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
    return fail(file ? unusable : impossible, error.what());
  } catch (const std::bad_alloc&) {
    return fail(impossible, "not enough memory for this request");
  } catch (const std::exception& error) {
    return fail(impossible, error.what());
  } catch (...) {
    return fail(impossible, "unknown failure");
  }
}
