// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace brim::detail {

[[noreturn]] inline void raise_io_failure(const std::filesystem::path& path, std::string_view doing,
                                          std::string_view reason) {
  raise(error_code::io_failure, text(path.string(), ": cannot ", doing, ": ", reason));
}

/// An open C stream that is closed on every way out.
class open_file {
 public:
  open_file(const std::filesystem::path& path, const char* mode) : stream_(std::fopen(path.string().c_str(), mode)) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() { close(); }

  [[nodiscard]] std::FILE* get() const { return stream_; }
  /// False where buffered bytes could not be written.
  bool close() { return stream_ == nullptr || std::fclose(std::exchange(stream_, nullptr)) == 0; }

 private:
  std::FILE* stream_;
};

/// Writes all of `content` to a stream that is already open. False on failure, with `errno` set.
inline bool write_all(open_file& file, std::string_view content) {
  const bool written = std::fwrite(content.data(), 1, content.size(), file.get()) == content.size();
  return file.close() && written;
}

/// A name in the folder of `path` that no other thread of this process uses; the file must not exist yet.
inline std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  std::filesystem::path name = path;
  name += text(".tmp", counter.fetch_add(1, std::memory_order_relaxed));
  return name;
}

}  // namespace brim::detail

namespace brim::io {

/// The whole content of a file.
/// Errors: `io_failure` (missing, a folder, unreadable), `bad_file` (longer than `limit` bytes).
[[nodiscard]] inline std::string read_file(const std::filesystem::path& path, std::size_t limit) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) detail::raise_io_failure(path, "read", "it is a folder");
  detail::open_file file(path, "rb");
  if (file.get() == nullptr) detail::raise_io_failure(path, "read", std::strerror(errno));
  std::string content;
  constexpr std::size_t block = std::size_t{1} << 16;
  for (std::size_t got = block; got == block;) {
    const std::size_t old = content.size();
    content.resize(old + block);
    got = std::fread(content.data() + old, 1, block, file.get());
    content.resize(old + got);
    if (content.size() > limit)
      raise(error_code::bad_file, detail::text(path.string(), ": longer than ", limit, " bytes, which is the limit"));
  }
  if (std::ferror(file.get()) != 0) detail::raise_io_failure(path, "read", std::strerror(errno));
  return content;
}

/// Replaces a file as a whole: a reader sees the old content or the new one, never a part, also when the disk is full.
///
/// The text goes to a temporary name in the same folder, which is then renamed. What is not a regular file (a pipe,
/// `/dev/stdout`) is written directly, since renaming would replace the device itself; a link is followed.
/// Errors: `io_failure`, naming the path; the temporary file is gone by then.
inline void write_file(const std::filesystem::path& path, std::string_view content) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::file_status old = fs::status(path, failed);
  if (fs::is_directory(old)) detail::raise_io_failure(path, "write", "it is a folder");
  if (fs::exists(old) && !fs::is_regular_file(old)) {
    detail::open_file device(path, "wb");
    if (device.get() == nullptr || !detail::write_all(device, content))
      detail::raise_io_failure(path, "write", std::strerror(errno));
    return;
  }
  const fs::path target = fs::exists(old) ? fs::canonical(path, failed) : path;
  if (failed && fs::exists(old)) detail::raise_io_failure(path, "write", failed.message());
  fs::path temporary;
  int reason = EEXIST;
  for (int attempt = 0; attempt < 100 && reason == EEXIST;
       ++attempt) {  // names of other processes are in the way at most
    temporary = detail::temporary_name(target);
    detail::open_file file(temporary, "wbx");
    if (file.get() == nullptr) {
      reason = errno;
      continue;
    }
    reason = detail::write_all(file, content) ? 0 : errno;
    if (reason != 0) fs::remove(temporary, failed);
  }
  if (reason != 0) detail::raise_io_failure(path, "write", std::strerror(reason));
  if (fs::exists(old)) fs::permissions(temporary, old.permissions(), failed);
  fs::rename(temporary, target, failed);
  if (failed) {
    const std::string sentence = failed.message();
    fs::remove(temporary, failed);
    detail::raise_io_failure(path, "write", sentence);
  }
}

}  // namespace brim::io
