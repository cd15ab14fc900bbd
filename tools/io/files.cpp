#include "io/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <new>
#include <string_view>

#include "io/buffer.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kChunkBytes = 16u << 20;  // one system call; also how often progress is told

// Files that a signal must not leave behind: a list that only grows, so that a handler may walk it at any time. A place
// is taken again when its file is gone.
struct Doomed {
  char path[4096] = {};
  volatile std::sig_atomic_t alive = 0;
  Doomed* next = nullptr;
};
std::atomic<Doomed*> doomed_files{nullptr};

// While several files are put in place a signal waits: they appear together.
volatile std::sig_atomic_t renaming = 0, waiting_signal = 0;

void remove_doomed(int signal) {
  if (renaming) {
    waiting_signal = signal;
    return;
  }
  for (const Doomed* file = doomed_files; file != nullptr; file = file->next) {
    if (file->alive) unlink(file->path);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct Renaming {
  Renaming() { renaming = 1; }
  ~Renaming() {
    renaming = 0;
    if (waiting_signal != 0) remove_doomed(waiting_signal);
  }
};

// Called before the file is made, so that no signal finds it undoomed. Its name holds this process's number: what a
// signal removes in between can only be what a dead process of the same number left. Null where the path is too long.
Doomed* doom(const std::string& path) {
  Doomed* place = doomed_files;
  while (place != nullptr && place->alive) place = place->next;
  if (path.size() >= sizeof place->path) return nullptr;
  const bool fresh = place == nullptr;
  if (fresh) place = new Doomed;
  std::memcpy(place->path, path.c_str(), path.size() + 1);
  place->alive = 1;
  if (fresh) {
    place->next = doomed_files;
    doomed_files = place;
  }
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // A signal that the caller ignores (nohup) stays ignored.
    if (std::signal(signal, remove_doomed) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  return place;
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

constexpr std::size_t kLongestName = 255;  // bytes in a name, on all usual file systems

// What the names of a target's temporary files begin with: its own name, cut where the rest would not fit in a name of
// 255 bytes. Names that are cut alike are told apart by a number made of them.
std::string stem_of(const std::string& target) {
  constexpr std::size_t kRest = 24;  // ".PID.N.tmp"
  auto name = fs::path(target).filename().string();
  if (name.size() + kRest > kLongestName) {
    const auto number = fmt::format("~{:016x}", std::hash<std::string>{}(name));
    name = name.substr(0, kLongestName - kRest - number.size()) + number;
  }
  return name;
}

// The number of the process that has made a temporary file of that stem, from its name "STEM.PID.N.tmp"; 0: none has.
pid_t maker_of(std::string_view name, std::string_view stem) {
  constexpr std::string_view kEnd = ".tmp";
  if (!name.starts_with(stem) || !name.ends_with(kEnd) || name.size() < stem.size() + kEnd.size()) return 0;
  name = name.substr(stem.size(), name.size() - stem.size() - kEnd.size());
  int pid = 0, attempt = 0;
  if (!name.starts_with('.')) return 0;
  const auto [dot, error] = std::from_chars(name.data() + 1, name.data() + name.size(), pid);
  if (error != std::errc() || dot == name.data() + name.size() || *dot != '.') return 0;
  const auto [end, other] = std::from_chars(dot + 1, name.data() + name.size(), attempt);
  return other == std::errc() && end == name.data() + name.size() && pid > 0 ? pid : 0;
}

// Removes what writers of the same target left that were killed: files whose process is gone and that nobody, on
// another machine of a shared disk either, has locked.
void remove_stale(const std::string& folder, const std::string& stem) {
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const pid_t maker = maker_of(entry->path().filename().string(), stem);
    if (maker == 0 || kill(maker, 0) == 0 || errno != ESRCH) continue;
    const int file = open(entry->path().c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    if (flock(file, LOCK_EX | LOCK_NB) == 0) unlink(entry->path().c_str());
    close(file);
  }
}

// Formats of others that a name promises.
void check_extension(const std::string& path) {
  static constexpr std::string_view kOthers[] = {".npz", ".txt",  ".csv", ".tsv", ".json",
                                                 ".h5",  ".hdf5", ".mat", ".pt",  ".safetensors"};
  const auto extension = fs::path(path).extension().string();
  if (std::find(std::begin(kOthers), std::end(kOthers), extension) == std::end(kOthers)) return;
  throw IoError(fmt::format("{}: would hold one tensor as .npy, which its name does not say; write {}", path,
                            fs::path(path).replace_extension(".npy").string()));
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
      throw IoError(fmt::format("{}: is a directory, not a file", path_));
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
  if (fs::path(target).filename().string().size() > kLongestName) {
    throw IoError(fmt::format("{}: cannot be written: {}", path, std::strerror(ENAMETOOLONG)));
  }
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

void OutputFile::check_tensor(const std::string& path) {
  check(path);
  check_extension(path);
}

bool OutputFile::is_direct(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

bool OutputFile::same(const std::string& one, const std::string& other) {
  const std::string a = resolved(fs::absolute(one).string()), b = resolved(fs::absolute(other).string());
  struct stat first{}, second{};
  const bool there = stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0;
  if (there && !S_ISREG(first.st_mode) && !S_ISREG(second.st_mode)) return false;  // a pipe takes one after the other
  return a == b || (there && first.st_dev == second.st_dev && first.st_ino == second.st_ino);
}

OutputFile::OutputFile(const std::string& path) : path_(path), target_(resolved(path)) {
  check(path);
  struct stat old{};
  existed_ = stat(target_.c_str(), &old) == 0;
  if (existed_ && !S_ISREG(old.st_mode)) {
    descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot be written", errno);
    return;
  }
  const std::string folder = folder_of(target_), stem = stem_of(target_);
  remove_stale(folder, stem);
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = fmt::format("{}/{}.{}.{}.tmp", folder, stem, getpid(), attempt);
    doomed_ = doom(temporary_);
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      const int error = errno;
      spare();
      temporary_.clear();
      if (error != EEXIST || attempt == 100) fail("cannot be written", error);
    }
  }
  (void)flock(descriptor_, LOCK_EX | LOCK_NB);
  if (existed_ && fchmod(descriptor_, old.st_mode & 07777) != 0)
    fail("cannot be given the mode of the old file", errno);
}

OutputFile::~OutputFile() { drop(); }

void OutputFile::spare() {
  if (doomed_ != nullptr) static_cast<Doomed*>(doomed_)->alive = 0;
  doomed_ = nullptr;
}

void OutputFile::drop() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
  spare();
}

void OutputFile::fail(const char* what, int error) {
  drop();
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

void OutputFile::finish() {
  if (descriptor_ < 0) return;
  // Network file systems report a full disk here.
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("cannot be written", errno);
}

void OutputFile::put_in_place(bool keep_old) {
  if (temporary_.empty()) return;
  if (keep_old && existed_) {
    backup_ = temporary_ + ".old";
    if (link(target_.c_str(), backup_.c_str()) != 0) fail("its old content cannot be kept meanwhile", errno);
  }
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    if (!backup_.empty()) unlink(backup_.c_str());
    backup_.clear();
    fail("cannot be put in place", error);
  }
  temporary_.clear();
  spare();
}

void OutputFile::commit() {
  finish();
  put_in_place(false);
}

void OutputFile::commit_together(std::span<const std::unique_ptr<OutputFile>> files) {
  for (const auto& file : files) file->finish();
  const Renaming no_signals;
  std::size_t placed = 0;
  try {
    for (; placed < files.size(); ++placed) files[placed]->put_in_place(files.size() > 1);
  } catch (const IoError&) {
    while (placed-- > 0) {
      auto& file = *files[placed];
      if (!file.backup_.empty()) {
        (void)std::rename(file.backup_.c_str(), file.target_.c_str());
      } else if (!file.existed_) {
        unlink(file.target_.c_str());
      }
      file.backup_.clear();
    }
    throw;
  }
  for (const auto& file : files) {
    if (!file->backup_.empty()) unlink(file->backup_.c_str());
    file->backup_.clear();
  }
}

std::string read_text_file(const std::string& path, std::size_t most) {
  InputFile file(path);
  std::string text;
  std::string chunk(1 << 16, '\0');
  while (const std::size_t got = file.read(chunk.data(), chunk.size())) {
    text.append(chunk, 0, got);
    if (text.size() > most) throw IoError(fmt::format("{}: is longer than {} bytes, and no text", path, most));
  }
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw IoError(fmt::format("{}: is UTF-16; save it as UTF-8", path));
  }
  if (const auto zero = text.find('\0'); zero != std::string::npos) {
    throw IoError(fmt::format("{}: byte {} is 0; it is no text", path, zero));
  }
  constexpr std::string_view kMark = "\xef\xbb\xbf";  // a byte-order mark says nothing in UTF-8
  if (text.starts_with(kMark)) text.erase(0, kMark.size());
  return text;
}

}  // namespace ricci::tools
