// One cache root on disk: who may use it, reading and publishing files in it. Holds no descriptor between calls, so
// that it survives fork(), daemons that close every descriptor, and a user who removes the directory.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cache/format.hpp"

namespace ricci::cache {

/// An owned file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }
  /// 0 or errno; a second call does nothing.
  int close() noexcept;

 private:
  int fd_ = -1;
};

/// Bytes of a file, without the cost of clearing them first.
struct FileBytes {
  std::unique_ptr<std::byte[]> data;
  std::size_t size = 0;
  std::span<const std::byte> span() const noexcept { return {data.get(), size}; }
};

/// A file that was seen, and what tells whether it is still the same one.
struct FileInfo {
  EntryName name;
  std::uint64_t bytes = 0;
  ino_t inode = 0;
  timespec modified{};
};

/// What the functions below return instead of errno when a root or a file must not be trusted.
inline constexpr int kRefused = -1;

/// The text for an errno value or kRefused.
std::string error_text(int error);

class Directory {
 public:
  /// `shared`: any owner and any mode will do, and files are made for the group as the umask says.
  Directory(std::filesystem::path root, bool shared) : root_(std::move(root)), shared_(shared) {}

  const std::filesystem::path& root() const noexcept { return root_; }
  bool shared() const noexcept { return shared_; }

  /// Why this root must not be used, with what to do about it; nothing if it may be used or is not there.
  std::optional<std::string> objection() const;

  /// 0, errno (ENOENT: a miss), or kRefused for what is not a regular file of a trusted owner. With `touch`, a file
  /// whose time lies more than a day away is marked as used now. A file that shrinks meanwhile comes back short.
  int read(const EntryName& name, bool touch, FileBytes* out) const;

  /// Writes bytes under `name` at once (temporary file and rename), making directories as needed. 0, errno or kRefused.
  int publish(const EntryName& name, std::span<const std::byte> bytes) const;

  /// The two halves of `publish`, for several files that shall appear together.
  int write_temporary(std::span<const std::byte> bytes, std::string* temporary) const;
  int commit(const std::string& temporary, const EntryName& name) const;
  void discard(const std::string& temporary) const noexcept;

  /// Removes a file, if `expected` is given only while it is that very file. 0 (also when it is gone), EBUSY when it
  /// is another file now, errno or kRefused.
  int remove(const EntryName& name, const FileInfo* expected = nullptr) const;

  /// All files with names of entries, in no order. Other files are nobody's business here.
  int list(std::vector<FileInfo>* files) const;

  /// Removes temporary files whose writer is gone: their time lies more than `age_s` away. Returns how many.
  std::size_t remove_stale_temporaries(std::int64_t age_s) const;

  /// The root, opened and checked. 0, errno or kRefused.
  int open_root(Descriptor* root, struct stat* info = nullptr) const;
  /// The same, made with all its parents if it is not there.
  int make_root(Descriptor* root) const;
  /// A directory directly below, never through a link; made if asked.
  int open_below(const Descriptor& root, const char* name, bool make, Descriptor* out) const;

  mode_t file_mode() const noexcept { return shared_ ? 0666 : 0600; }
  mode_t folder_mode() const noexcept { return shared_ ? 0777 : 0700; }

 private:
  bool trusts(const struct stat& info) const noexcept;

  std::filesystem::path root_;
  bool shared_;
};

/// Makes a directory and its parents. 0 or errno.
int make_directories(const std::filesystem::path& path, mode_t mode);

/// Reads `size` bytes or up to the end of the file. 0 or errno.
int read_all(int fd, std::byte* out, std::size_t* size) noexcept;

/// Writes all bytes. 0 or errno; EFBIG where RLIMIT_FSIZE would otherwise end the process with SIGXFSZ.
int write_all(int fd, std::span<const std::byte> bytes) noexcept;

}  // namespace ricci::cache
