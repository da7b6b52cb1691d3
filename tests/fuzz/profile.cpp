// SPDX-License-Identifier: Apache-2.0
// Any text: it is refused with bad_file, or it is a profile that survives being written and read, and that can be used.
#include <brim/io/read_profile.hpp>
#include <brim/io/write_profile.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  brim::profile read;
  try {
    read = brim::io::parse_profile({reinterpret_cast<const char*>(data), size});
  } catch (const brim::error& e) {
    if (e.code() != brim::error_code::bad_file) std::abort();
    return 0;
  }
  if (brim::io::parse_profile(brim::io::profile_json(read)) != read) std::abort();
  const auto stages = static_cast<std::int32_t>(read.stages.size());
  try {
    (void)read.prepare(brim::one_stage_a_device({.devices = stages}));
  } catch (const brim::error& e) {
    if (e.code() != brim::error_code::bad_profile) std::abort();  // e.g. more boundaries than stages
  }
  return 0;
}
