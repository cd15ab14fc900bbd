// Files read in one pass and written in one piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
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
/// then, and after any failure, a file of that name that was there before is as it was. A path that is not a regular
/// file (a pipe, /dev/null) is written directly. A link is followed. SIGINT, SIGTERM and SIGHUP remove the temporary
/// file; what a writer of the same name left that was killed otherwise, the next one removes.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* from, std::size_t bytes, const Share& share = {});
  void commit();
  /// Commits several files, all or none: where one cannot be put in place, those before it are taken back.
  static void commit_together(std::span<const std::unique_ptr<OutputFile>> files);

  /// Throws the IoError that writing `path` would end in, as far as that is known before writing.
  static void check(const std::string& path);
  /// The same for a .npy file, whose name must not promise another format.
  static void check_tensor(const std::string& path);
  /// Whether a path is there and no regular file: its bytes are gone as soon as they are written.
  static bool is_direct(const std::string& path);
  /// Whether two paths are one regular file.
  static bool same(const std::string& one, const std::string& other);

 private:
  [[noreturn]] void fail(const char* what, int error);
  void drop();
  void spare();
  void finish();
  void put_in_place(bool keep_old);

  std::string path_;       // as the caller wrote it, for messages
  std::string target_;     // with links followed
  std::string temporary_;  // empty: written directly
  std::string backup_;     // the old content while several files are put in place
  bool existed_ = false;
  void* doomed_ = nullptr;  // the place in the list of what signals remove
  int descriptor_ = -1;
};

/// A text, whole, without a byte-order mark. Throws IoError where the file cannot be read, is longer than `most` bytes
/// (a device that never ends), or is not UTF-8 text by its first bytes or a byte 0.
std::string read_text_file(const std::string& path, std::size_t most = std::size_t{64} << 20);

}  // namespace ricci::tools
