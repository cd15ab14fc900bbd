#include "cache/sweep.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ricci/log.hpp"

namespace ricci::cache {
namespace {

constexpr char kUsageFile[] = "usage";
constexpr std::chrono::milliseconds kAccountPatience{1000};
constexpr std::int64_t kRetryFutile_s = 60;  // so that a futile sweep is not repeated at every write

bool older(const FileInfo& a, const FileInfo& b) noexcept {
  return a.modified.tv_sec != b.modified.tv_sec ? a.modified.tv_sec < b.modified.tv_sec
                                                : a.modified.tv_nsec < b.modified.tv_nsec;
}

}  // namespace

SweepResult sweep(const Directory& directory, std::uint64_t max_bytes, std::uint64_t target_bytes) {
  SweepResult result;
  result.stale_temporaries = directory.remove_stale_temporaries(kTemporaryAge_s);
  std::vector<FileInfo> files;
  result.error = directory.list(&files);
  result.entries = files.size();
  for (const FileInfo& file : files) result.bytes += file.bytes;
  if (result.bytes <= max_bytes) return result;

  std::sort(files.begin(), files.end(), older);
  for (const FileInfo& file : files) {
    if (result.bytes <= target_bytes) break;
    if (&file == &files.back() && result.bytes <= max_bytes) break;
    const int error = directory.remove(file.name, &file);
    if (error == EBUSY) continue;
    if (error) {
      if (!result.error) result.error = error;
      continue;
    }
    result.bytes -= file.bytes;
    --result.entries;
    result.removed_bytes += file.bytes;
    ++result.removed_entries;
  }
  return result;
}

int read_usage(const Directory& directory, Usage* usage) {
  *usage = {};
  Descriptor root;
  if (const int error = directory.open_root(&root)) return error == ENOENT ? 0 : error;
  const Descriptor file(::openat(root.get(), kUsageFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return errno == ENOENT ? 0 : errno;
  char text[96] = {};
  std::size_t size = sizeof text - 1;
  if (const int error = read_all(file.get(), reinterpret_cast<std::byte*>(text), &size)) return error;
  unsigned long long bytes = 0;
  long long swept_s = 0;
  int futile = 0;
  if (std::sscanf(text, "ricci-usage 1 %20llu %20lld %1d", &bytes, &swept_s, &futile) == 3)
    *usage = {bytes, swept_s, futile != 0};
  return 0;
}

int write_usage(const Directory& directory, const Usage& usage) {
  Descriptor root;
  if (const int error = directory.open_root(&root)) return error;
  const Descriptor file(::openat(root.get(), kUsageFile, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                                 directory.file_mode()));
  if (!file) return errno;
  // One write of one length: a reader without the lock never sees a mixture.
  const std::string text = fmt::format("ricci-usage 1 {:20} {:20} {:d}\n", usage.bytes, usage.swept_s, usage.futile);
  return write_all(file.get(), std::as_bytes(std::span(text)));
}

void account(const Directory& directory, const LockFolder& locks, std::uint64_t written_bytes, std::uint64_t max_bytes,
             SweepState* state) {
  state->unaccounted_bytes += written_bytes;
  Lock lock;
  const auto patience_ends = std::chrono::steady_clock::now() + kAccountPatience;
  while (locks.try_acquire("sweep", &lock) == LockResult::busy) {
    if (std::chrono::steady_clock::now() >= patience_ends) return;  // the next write accounts for both
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

  Usage usage;
  if (read_usage(directory, &usage) != 0) usage = {};
  const std::uint64_t pending = state->unaccounted_bytes.exchange(0);
  usage.bytes += pending;
  const std::int64_t now_s = ::time(nullptr);
  // A last sweep in the future is a clock that was set back: it says nothing.
  const auto passed = [&](std::int64_t since_s, std::int64_t wait_s) {
    return now_s < since_s || now_s - since_s > wait_s;
  };
  const bool due = passed(usage.swept_s, kSweepEvery_s) && passed(state->swept_s, kSweepEvery_s);
  const bool futile = (usage.futile && !passed(usage.swept_s, kRetryFutile_s)) ||
                      (state->futile && !passed(state->swept_s, kRetryFutile_s));
  if (due || (usage.bytes > max_bytes && !futile)) {
    const SweepResult result = sweep(directory, max_bytes, max_bytes / 5 * 4);
    usage = {result.bytes, now_s, result.error != 0 && result.bytes > max_bytes};
    state->swept_s = now_s;
    state->futile = usage.futile;
    if (log_enabled(LogTopic::cache))
      log_line(LogTopic::cache,
               fmt::format("cache: swept {}: removed {} of {} entries and {} stale temporary files, {} bytes left",
                           directory.root().string(), result.removed_entries, result.removed_entries + result.entries,
                           result.stale_temporaries, result.bytes));
    (void)write_usage(directory, usage);
  } else if (write_usage(directory, usage) != 0) {
    state->unaccounted_bytes += pending;
  }
}

}  // namespace ricci::cache
