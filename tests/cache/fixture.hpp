// What the cache tests share: directories of their own, entries whose content follows from their key, children,
// warnings.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "cache/format.hpp"
#include "cache/store.hpp"
#include "ricci/log.hpp"
#include "temporary_folder.hpp"

namespace ricci::cache::test {

namespace fs = std::filesystem;

using tests::TemporaryFolder;

inline Config config_at(const fs::path& root) {
  Config config;
  config.root = root;
  config.lock_timeout = std::chrono::seconds(60);  // machines under load: only the tests of the time-out shorten it
  return config;
}

/// Bytes that do not compress and follow from the key.
inline std::vector<std::byte> noise(std::string_view key, std::size_t size) {
  std::uint64_t state = 1469598103934665603u;
  for (const char c : key) state = (state ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::byte>(state >> 56);
  }
  return bytes;
}

/// The one right entry of a key.
inline Entry entry_of(std::string_view key, std::size_t binary_bytes = 300) {
  Entry entry;
  entry.key = key;
  entry.metadata = "{\"for\":\"" + entry.key + "\"}";
  for (int line = 0; line < 20; ++line) entry.source += "// line for " + entry.key + "\n";
  entry.binary = noise(key, binary_bytes);
  return entry;
}

inline bool is_right(const Entry& entry, std::string_view key, std::size_t binary_bytes = 300) {
  const Entry right = entry_of(key, binary_bytes);
  return entry.key == right.key && entry.metadata == right.metadata && entry.source == right.source &&
         entry.binary == right.binary;
}

inline std::function<Entry()> maker(std::string key, int* calls = nullptr, std::size_t binary_bytes = 300) {
  return [=] {
    if (calls) ++*calls;
    return entry_of(key, binary_bytes);
  };
}

inline std::string key_of(int number) { return "format 1 | op permute abc->cab | key " + std::to_string(number); }

inline std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto* const data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

inline void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  fs::create_directories(path.parent_path());
  fs::remove(path);  // ext4 waits for the disk when a file is truncated and written again
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

inline fs::path file_of(const fs::path& root, std::string_view key) { return root / EntryName::of(key).path(); }

inline std::vector<fs::path> entry_files(const fs::path& root) {
  std::vector<fs::path> files;
  if (fs::exists(root))
    for (const auto& item : fs::recursive_directory_iterator(root))
      if (item.path().extension() == ".k") files.push_back(item.path());
  return files;
}

inline std::uint64_t entry_bytes(const fs::path& root) {
  std::uint64_t bytes = 0;
  for (const fs::path& file : entry_files(root)) bytes += fs::file_size(file);
  return bytes;
}

inline std::size_t count_files(const fs::path& folder) {
  std::size_t count = 0;
  if (fs::exists(folder))
    for (const auto& item : fs::directory_iterator(folder)) count += item.is_regular_file();
  return count;
}

/// Sets the time of last use, in seconds from now.
inline void set_age(const fs::path& path, std::int64_t seconds_from_now) {
  const timespec times[2] = {{0, UTIME_OMIT}, {::time(nullptr) + seconds_from_now, 0}};
  if (::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0) throw std::runtime_error("utimensat " + path.string());
}

inline std::int64_t age_s(const fs::path& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) throw std::runtime_error("stat " + path.string());
  return ::time(nullptr) - info.st_mtim.tv_sec;
}

/// The warnings logged while it lives.
class Warnings {
 public:
  Warnings() {
    set_log_sink([this](LogTopic topic, std::string_view line) {
      const std::lock_guard guard(mutex_);
      if (topic == LogTopic::warning) lines_.emplace_back(line);
    });
  }
  ~Warnings() { set_log_sink({}); }
  std::vector<std::string> lines() const {
    const std::lock_guard guard(mutex_);
    return lines_;
  }
  std::size_t count() const { return lines().size(); }
  std::string text() const {
    std::string all;
    for (const std::string& line : lines()) all += line + "\n";
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// Starts `work` in a child process that leaves with what it returns, or 99 if it throws.
inline pid_t start_child(const std::function<int()>& work) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    int status = 99;
    try {
      status = work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    std::fflush(nullptr);
    ::_exit(status);
  }
  return child;
}

/// The child's exit status, or 1000 + the signal that ended it.
inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error("waitpid");
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

inline int in_child(const std::function<int()>& work) { return wait_for(start_child(work)); }

inline bool become(uid_t user) { return ::setgroups(0, nullptr) == 0 && ::setgid(user) == 0 && ::setuid(user) == 0; }

constexpr uid_t kNobody = 65534;

/// In a child: leaves with status 1 and says where, unless `condition` holds.
#define CHILD_CHECK(condition)                                                     \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                                    \
    }                                                                              \
  } while (false)

}  // namespace ricci::cache::test
