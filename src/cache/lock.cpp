#include "cache/lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

namespace ricci::cache {
namespace {

// A forked child inherits the descriptors, and with them the locks, of threads that it does not have: it closes them
// at once. Closing in the child does not release the parent's lock.
class HeldLocks {
 public:
  static HeldLocks& instance() {
    static HeldLocks* const held = new HeldLocks;  // never destroyed: fork() may come during exit
    return *held;
  }

  void add(int fd) {
    const std::lock_guard guard(mutex_);
    fds_.push_back(fd);
  }

  void release(int fd) noexcept {
    const std::lock_guard guard(mutex_);
    const auto at = std::find(fds_.begin(), fds_.end(), fd);
    if (at == fds_.end()) return;  // closed in this child already
    fds_.erase(at);
    (void)::flock(fd, LOCK_UN);  // closing alone would leave it to a child that is just being made
    (void)::close(fd);
  }

 private:
  HeldLocks() {
    (void)::pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                           [] {
                             for (const int fd : instance().fds_) (void)::close(fd);
                             instance().fds_.clear();
                             instance().mutex_.unlock();
                           });
  }

  std::mutex mutex_;
  std::vector<int> fds_;
};

bool on_network(std::filesystem::path path) {
  struct statfs info{};
  // The root may not be there yet: its nearest parent decides.
  while (::statfs(path.c_str(), &info) != 0) {
    if (errno != ENOENT || !path.has_parent_path() || path.parent_path() == path) return false;
    path = path.parent_path();
  }
  return is_network_file_system(static_cast<unsigned long>(info.f_type));
}

}  // namespace

Lock::Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Lock& Lock::operator=(Lock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

void Lock::release() noexcept {
  if (fd_ >= 0) HeldLocks::instance().release(std::exchange(fd_, -1));
}

bool is_network_file_system(unsigned long type) noexcept {
  constexpr unsigned long kTypes[] = {
      0x6969,      // NFS
      0xff534d42,  // CIFS
      0xfe534d42,  // SMB2
      0x517b,      // SMB
      0x0bd00bd0,  // Lustre
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
      0x00c36400,  // Ceph
      0x5346414f,  // AFS
      0x01021997,  // 9p
      0x65735546,  // FUSE: sshfs and many cluster file systems
  };
  return std::find(std::begin(kTypes), std::end(kTypes), type & 0xffffffffUL) != std::end(kTypes);
}

std::filesystem::path lock_folder(const std::filesystem::path& root, bool network,
                                  const std::filesystem::path& runtime_dir, uid_t user) {
  if (!network) return root / "lock";
  if (!runtime_dir.empty()) return runtime_dir / "ricci";
  return fmt::format("/dev/shm/ricci-{}", user);
}

LockFolder::LockFolder(const Directory& directory, const std::filesystem::path& runtime_dir) : folder_({}, false) {
  const bool network = on_network(directory.root());
  beside_ = !network;
  folder_ = Directory(lock_folder(directory.root(), network, runtime_dir, ::geteuid()), beside_ && directory.shared());
}

LockResult LockFolder::try_acquire(const char* name, Lock* lock) const {
  Descriptor folder;
  struct stat info{};
  // Where every user may make names, a link could lead our files elsewhere.
  if (!beside_ && ::lstat(folder_.root().c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) return LockResult::unavailable;
  int error = folder_.open_root(&folder, &info);
  if (error == ENOENT) error = folder_.make_root(&folder);
  if (error) return LockResult::unavailable;
  const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Descriptor file(::openat(folder.get(), name, flags | O_CREAT, folder_.file_mode()));
  // In a shared cache the file may be another user's: reading rights are enough for flock on a local file system.
  if (!file && errno == EACCES) file = Descriptor(::openat(folder.get(), name, (flags & ~O_ACCMODE) | O_RDONLY));
  if (!file) return LockResult::unavailable;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK || errno == EINTR ? LockResult::busy : LockResult::unavailable;
  HeldLocks::instance().add(file.get());
  *lock = Lock(file.release());
  return LockResult::acquired;
}

}  // namespace ricci::cache
