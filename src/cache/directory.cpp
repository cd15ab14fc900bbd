#include "cache/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>

namespace ricci::cache {
namespace {

constexpr std::int64_t kTouchAfter_s = 24 * 3600;
constexpr std::size_t kSuspicious_bytes = std::size_t{16} << 20;
constexpr char kTemporaryFolder[] = "tmp";

struct CloseDir {
  void operator()(DIR* dir) const noexcept { ::closedir(dir); }
};
using DirStream = std::unique_ptr<DIR, CloseDir>;

DirStream open_stream(Descriptor fd) {
  DirStream stream(::fdopendir(fd.get()));
  if (stream) fd.release();
  return stream;
}

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "host";
  std::string text;
  for (const char* c = name; *c && text.size() < 32; ++c)
    if (std::isalnum(static_cast<unsigned char>(*c)) || *c == '-') text += *c;
  return text.empty() ? "host" : text;
}

// Distance from now in either direction: a time in the future is as wrong as one in the past.
std::int64_t distance_s(const timespec& time) noexcept {
  return std::llabs(std::int64_t{::time(nullptr)} - time.tv_sec);
}

bool same_file(const struct stat& info, const FileInfo& expected) noexcept {
  return info.st_ino == expected.inode && static_cast<std::uint64_t>(info.st_size) == expected.bytes &&
         info.st_mtim.tv_sec == expected.modified.tv_sec && info.st_mtim.tv_nsec == expected.modified.tv_nsec;
}

}  // namespace

int Descriptor::close() noexcept {
  if (fd_ < 0) return 0;
  return ::close(release()) == 0 ? 0 : errno;
}

std::string error_text(int error) {
  return error == kRefused ? "the owner or the mode of a file or directory is not trusted"
                           : std::generic_category().message(error);
}

int make_directories(const std::filesystem::path& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return 0;
  if (errno != ENOENT || !path.has_parent_path() || path.parent_path() == path) return errno;
  if (const int error = make_directories(path.parent_path(), mode)) return error;
  return ::mkdir(path.c_str(), mode) == 0 || errno == EEXIST ? 0 : errno;
}

int read_all(int fd, std::byte* out, std::size_t* size) noexcept {
  std::size_t done = 0;
  while (done < *size) {
    const ssize_t count = ::read(fd, out + done, *size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  *size = done;
  return 0;
}

int write_all(int fd, std::span<const std::byte> bytes) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes.size() > limit.rlim_cur) return EFBIG;
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return 0;
}

bool Directory::trusts(const struct stat& info) const noexcept {
  if (shared_) return true;
  return (info.st_uid == ::geteuid() || info.st_uid == 0) && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int Directory::open_root(Descriptor* root, struct stat* info) const {
  // O_PATH: searching is all that is needed. A link on the way to the root is the user's own choice.
  Descriptor fd(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return errno;
  struct stat seen{};
  if (::fstat(fd.get(), &seen) != 0) return errno;
  if (info) *info = seen;
  if (!trusts(seen)) return kRefused;
  *root = std::move(fd);
  return 0;
}

int Directory::make_root(Descriptor* root) const {
  int error = open_root(root);
  if (error != ENOENT) return error;
  error = make_directories(root_, folder_mode());
  return error ? error : open_root(root);
}

int Directory::open_below(const Descriptor& root, const char* name, bool make, Descriptor* out) const {
  if (make && ::mkdirat(root.get(), name, folder_mode()) != 0 && errno != EEXIST) return errno;
  Descriptor fd(::openat(root.get(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return errno == ELOOP ? kRefused : errno;
  *out = std::move(fd);
  return 0;
}

std::optional<std::string> Directory::objection() const {
  Descriptor fd;
  struct stat info{};
  if (open_root(&fd, &info) != kRefused) return std::nullopt;
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    return fmt::format(
        "the kernel cache {} belongs to user {}, not to user {} or root: it is not used. Set RICCI_CACHE_DIR "
        "to a directory of your own, or RICCI_CACHE_SHARED=1 if you trust everyone who can write there",
        root_.string(), info.st_uid, ::geteuid());
  return fmt::format(
      "the kernel cache {} can be written by others (mode {:04o}): it is not used. Run chmod go-w {}, or set "
      "RICCI_CACHE_SHARED=1 if you trust everyone who can write there",
      root_.string(), info.st_mode & 07777, root_.string());
}

int Directory::read(const EntryName& name, bool touch, FileBytes* out) const {
  Descriptor root, folder;
  if (const int error = open_root(&root)) return error;
  if (const int error = open_below(root, name.folder, false, &folder)) return error;
  // O_NONBLOCK: a pipe with the name of an entry must not hold us.
  const Descriptor file(::openat(folder.get(), name.file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return errno == ELOOP ? kRefused : errno;
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return errno;
  if (!S_ISREG(info.st_mode) || !trusts(info)) return kRefused;
  const auto size = static_cast<std::size_t>(info.st_size);
  std::size_t done = 0;
  if (size > kSuspicious_bytes) {
    // A file of gigabytes by some accident must not fill the memory: only its header is read, and found wanting.
    std::byte header[kHeaderBytes];
    done = sizeof header;
    if (const int error = read_all(file.get(), header, &done)) return error;
    const bool believable = announced_bytes({header, done}) == size;
    out->data = std::make_unique_for_overwrite<std::byte[]>(believable ? size : done);
    std::copy_n(header, done, out->data.get());
    out->size = done;
    if (!believable) return 0;
  } else {
    out->data = std::make_unique_for_overwrite<std::byte[]>(size);
  }
  out->size = size - done;
  if (const int error = read_all(file.get(), out->data.get() + done, &out->size)) return error;
  out->size += done;
  if (touch && distance_s(info.st_mtim) > kTouchAfter_s) (void)::futimens(file.get(), nullptr);
  return 0;
}

int Directory::publish(const EntryName& name, std::span<const std::byte> bytes) const {
  std::string temporary;
  if (const int error = write_temporary(bytes, &temporary)) return error;
  const int error = commit(temporary, name);
  if (error) discard(temporary);
  return error;
}

int Directory::write_temporary(std::span<const std::byte> bytes, std::string* temporary) const {
  static std::atomic<unsigned> counter{0};
  Descriptor root, folder;
  if (const int error = make_root(&root)) return error;
  if (const int error = open_below(root, kTemporaryFolder, true, &folder)) return error;
  Descriptor file;
  // Another container may have the same host name and process number: EEXIST means the next number, not a failure.
  for (int attempt = 0; attempt < 100 && !file; ++attempt) {
    *temporary = fmt::format("{}.{}.{}", host_name(), ::getpid(), counter++);
    file = Descriptor(
        ::openat(folder.get(), temporary->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file_mode()));
    if (!file && errno != EEXIST) return errno;
  }
  if (!file) return EEXIST;
  int error = write_all(file.get(), bytes);
  if (const int close_error = file.close(); !error) error = close_error;  // network file systems report full disks here
  if (error) (void)::unlinkat(folder.get(), temporary->c_str(), 0);
  return error;
}

int Directory::commit(const std::string& temporary, const EntryName& name) const {
  Descriptor root, from, to;
  if (const int error = open_root(&root)) return error;
  if (const int error = open_below(root, kTemporaryFolder, false, &from)) return error;
  if (const int error = open_below(root, name.folder, true, &to)) return error;
  return ::renameat(from.get(), temporary.c_str(), to.get(), name.file) == 0 ? 0 : errno;
}

void Directory::discard(const std::string& temporary) const noexcept {
  Descriptor root, folder;
  if (open_root(&root) == 0 && open_below(root, kTemporaryFolder, false, &folder) == 0)
    (void)::unlinkat(folder.get(), temporary.c_str(), 0);
}

int Directory::remove(const EntryName& name, const FileInfo* expected) const {
  Descriptor root, folder;
  int error = open_root(&root);
  if (!error) error = open_below(root, name.folder, false, &folder);
  if (error) return error == ENOENT ? 0 : error;
  if (expected) {
    struct stat info{};
    if (::fstatat(folder.get(), name.file, &info, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? 0 : errno;
    if (!same_file(info, *expected)) return EBUSY;
  }
  return ::unlinkat(folder.get(), name.file, 0) == 0 || errno == ENOENT ? 0 : errno;
}

int Directory::list(std::vector<FileInfo>* files) const {
  files->clear();
  Descriptor root;
  if (const int error = open_root(&root)) return error == ENOENT ? 0 : error;
  constexpr char kDigits[] = "0123456789abcdef";
  for (int i = 0; i < 256; ++i) {
    const char folder_name[3] = {kDigits[i / 16], kDigits[i % 16], 0};
    Descriptor folder(::openat(root.get(), folder_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder) {
      if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) continue;
      return errno;
    }
    const DirStream stream = open_stream(std::move(folder));
    if (!stream) return errno;
    while (const dirent* item = ::readdir(stream.get())) {
      const std::optional<EntryName> name = EntryName::parse(folder_name, item->d_name);
      struct stat info{};
      if (!name || ::fstatat(::dirfd(stream.get()), item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (!S_ISREG(info.st_mode)) continue;
      files->push_back({*name, static_cast<std::uint64_t>(info.st_size), info.st_ino, info.st_mtim});
    }
  }
  return 0;
}

std::size_t Directory::remove_stale_temporaries(std::int64_t age_s) const {
  Descriptor root;
  if (open_root(&root) != 0) return 0;
  const DirStream stream =
      open_stream(Descriptor(::openat(root.get(), kTemporaryFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
  if (!stream) return 0;
  std::size_t removed = 0;
  while (const dirent* item = ::readdir(stream.get())) {
    struct stat info{};
    if (::fstatat(::dirfd(stream.get()), item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
      continue;
    if (distance_s(info.st_mtim) > age_s && ::unlinkat(::dirfd(stream.get()), item->d_name, 0) == 0) ++removed;
  }
  return removed;
}

}  // namespace ricci::cache
