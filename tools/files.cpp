#include "files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <new>

#include "buffer.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kChunkBytes = 16u << 20;  // one system call; also how often progress is told

// The temporary file that a signal must not leave behind. One at a time: the tool writes one output.
char doomed_path[4096];
volatile std::sig_atomic_t doomed = 0;

void remove_doomed(int signal) {
  if (doomed) unlink(doomed_path);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// Called before the file is made, so that no signal finds it undoomed. Its name holds this process's number: what a
// signal removes in between can only be what a dead process of the same number left.
void doom(const std::string& path) {
  doomed = 0;
  if (path.size() >= sizeof doomed_path) return;
  std::memcpy(doomed_path, path.c_str(), path.size() + 1);
  doomed = 1;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // A signal that the caller ignores (nohup) stays ignored.
    if (std::signal(signal, remove_doomed) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

std::string resolved(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target.string();
}

std::string folder_of(const std::string& target) {
  const std::string folder = fs::path(target).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

Buffer::Buffer(std::size_t bytes) : memory_(runtime::allocate_host(bytes)), bytes_(bytes) {
  if (!memory_) throw IoError(fmt::format("no memory for a tensor of {} bytes", bytes));
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw IoError(fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
  struct stat status{};
  if (fstat(descriptor_, &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      close(descriptor_);
      throw IoError(fmt::format("{}: is a directory, not a .npy file", path_));
    }
    if (S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
  }
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::size_t InputFile::read(void* to, std::size_t bytes, const Share& share) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::read(descriptor_, static_cast<char*>(to) + done, std::min(bytes - done, kChunkBytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw IoError(fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
    if (share) share(static_cast<double>(done) / static_cast<double>(bytes));
  }
  return done;
}

void OutputFile::check(const std::string& path) {
  const std::string target = resolved(path);
  struct stat status{};
  if (stat(target.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw IoError(fmt::format("{}: cannot be written: it is a directory", path));
    if (!S_ISREG(status.st_mode)) return;
  }
  const std::string folder = folder_of(target);
  if (stat(folder.c_str(), &status) != 0) {
    throw IoError(fmt::format("{}: cannot be written: no directory {}", path, folder));
  }
  // The temporary file is made there, so the directory must be writable whatever the mode of the file.
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw IoError(fmt::format("{}: cannot be written: directory {}: {}", path, folder, std::strerror(errno)));
  }
}

OutputFile::OutputFile(const std::string& path) : path_(path), target_(resolved(path)) {
  check(path);
  struct stat old{};
  const bool exists = stat(target_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot be written", errno);
    return;
  }
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = fmt::format("{}.{}.{}.tmp", target_, getpid(), attempt);
    doom(temporary_);
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && (errno != EEXIST || attempt == 100)) {
      const int error = errno;
      temporary_.clear();
      fail("cannot be written", error);
    }
  }
  if (exists && fchmod(descriptor_, old.st_mode & 07777) != 0) fail("cannot be given the mode of the old file", errno);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  doomed = 0;
}

void OutputFile::fail(const char* what, int error) {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
  doomed = 0;
  throw IoError(fmt::format("{}: {}: {}", path_, what, std::strerror(error)));
}

void OutputFile::write(const void* from, std::size_t bytes, const Share& share) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t put =
        ::write(descriptor_, static_cast<const char*>(from) + done, std::min(bytes - done, kChunkBytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("cannot be written", errno);
    done += static_cast<std::size_t>(put);
    if (share) share(static_cast<double>(done) / static_cast<double>(bytes));
  }
}

void OutputFile::commit() {
  // Network file systems report a full disk here.
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("cannot be written", errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be put in place", errno);
  temporary_.clear();
  doomed = 0;
}

}  // namespace ricci::tools
