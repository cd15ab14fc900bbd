// Files read in one pass and written in one piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ricci::tools {

/// Called now and then with the share done, 0 to 1.
using Share = std::function<void(double)>;

/// A file or pipe that is read from front to back. Errors are IoErrors that name the path.
class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Reads up to `bytes`; fewer only at the end of the file.
  std::size_t read(void* to, std::size_t bytes, const Share& share = {});
  /// Size of a regular file; nothing for pipes and devices.
  std::optional<std::uint64_t> size() const noexcept { return size_; }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  std::optional<std::uint64_t> size_;
};

/// A file that appears whole or not at all: the bytes go to a temporary file next to it, and commit() renames. Until
/// then, and after any failure, a file of that name that was there before is as it was. A path that is no regular file
/// (a pipe, /dev/null) is written directly. A link is followed. SIGINT, SIGTERM and SIGHUP remove the temporary file.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* from, std::size_t bytes, const Share& share = {});
  void commit();

  /// Throws the IoError that writing `path` would end in, as far as that is known before writing.
  static void check(const std::string& path);

 private:
  [[noreturn]] void fail(const char* what, int error);

  std::string path_;       // as the caller wrote it, for messages
  std::string target_;     // with links followed
  std::string temporary_;  // empty: written directly
  int descriptor_ = -1;
};

}  // namespace ricci::tools
