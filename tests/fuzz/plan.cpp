// SPDX-License-Identifier: Apache-2.0
// Any text: it is refused with bad_file, or it is a plan that survives being written and read, and that `verify` can judge.
#include <brim/io/read_plan_json.hpp>
#include <brim/io/write_plan_json.hpp>
#include <brim/plan/verify.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  brim::plan read;
  try {
    read = brim::io::parse_plan_json({reinterpret_cast<const char*>(data), size});
  } catch (const brim::error& e) {
    if (e.code() != brim::error_code::bad_file) std::abort();
    return 0;
  }
  if (!(brim::io::parse_plan_json(brim::io::plan_json(read)) == read)) std::abort();
  try {
    brim::verify(read);
  } catch (const brim::error&) {  // most are wrong; none may do worse than this
  }
  return 0;
}
