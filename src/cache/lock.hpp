// Advisory locks between processes: 256 files that are never removed. Locks save work, they do not make results right:
// renaming does. So whatever goes wrong here means "no lock", never a failure.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "cache/directory.hpp"

namespace ricci::cache {

/// A held lock. Released by its destructor, by the death of the process, and never kept alive by a forked child.
class Lock {
 public:
  Lock() = default;
  Lock(Lock&& other) noexcept;
  Lock& operator=(Lock&& other) noexcept;
  ~Lock() { release(); }
  void release() noexcept;
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  friend class LockFolder;
  explicit Lock(int fd) noexcept : fd_(fd) {}
  int fd_ = -1;
};

enum class LockResult { acquired, busy, unavailable };

/// The lock files of one cache root.
class LockFolder {
 public:
  /// `runtime_dir` may be empty.
  LockFolder(const Directory& directory, const std::filesystem::path& runtime_dir);

  /// Tries once, without waiting. `name` is a stripe ("00".."ff"), "sweep", or what Store::exclusive is asked for.
  LockResult try_acquire(const char* name, Lock* lock) const;

 private:
  Directory folder_;
  bool beside_;  // below the cache root, whose owner has been checked; else in a place open to all users
};

/// True for the file-system types (statfs f_type) that are mounted over a network, where flock may hang or lie.
bool is_network_file_system(unsigned long type) noexcept;

/// Where the locks of a root go: `root`/lock, or on a network file system a folder of this machine, which keeps single
/// flight within the machine and avoids the server.
std::filesystem::path lock_folder(const std::filesystem::path& root, bool network,
                                  const std::filesystem::path& runtime_dir, uid_t user);

}  // namespace ricci::cache
