// Keeping a root within its bound: how many bytes it holds, and removing what was used longest ago.
#pragma once

#include <atomic>
#include <cstdint>

#include "cache/directory.hpp"
#include "cache/lock.hpp"

namespace ricci::cache {

inline constexpr std::int64_t kSweepEvery_s = 3600;
inline constexpr std::int64_t kTemporaryAge_s = 3600;

struct SweepResult {
  std::uint64_t entries = 0, bytes = 0;  ///< what is left
  std::uint64_t removed_entries = 0, removed_bytes = 0;
  std::uint64_t stale_temporaries = 0;  ///< removed
  int error = 0;                        ///< errno or kRefused of the first failure
};

/// Removes temporary files of dead writers, then, if the files hold more than `max_bytes`, the least recently used ones
/// down to `target_bytes`. The newest file stays as long as it alone fits in `max_bytes`. A file that another process
/// replaced or used since it was listed is left alone.
SweepResult sweep(const Directory& directory, std::uint64_t max_bytes, std::uint64_t target_bytes);

/// What the file `usage` of a root says. It is an estimate: a lost update is made good by the next sweep.
struct Usage {
  std::uint64_t bytes = 0;
  std::int64_t swept_s = 0;  ///< Unix time of the last sweep; 0 if there was none
  bool futile = false;       ///< the last sweep could not get below its bound: files of other users, a failing disk
};

/// 0 with a zero Usage if the file is missing or unreadable as text, else errno or kRefused.
int read_usage(const Directory& directory, Usage* usage);

/// Overwrites the file. Hold the lock "sweep". 0, errno or kRefused.
int write_usage(const Directory& directory, const Usage& usage);

/// What one process knows beyond the usage file, which it may not be able to write.
struct SweepState {
  std::atomic<std::uint64_t> unaccounted_bytes{0};  ///< published, and not in the usage file yet
  std::atomic<std::int64_t> swept_s{0};             ///< Unix time of this process's last sweep
  std::atomic<bool> futile{false};                  ///< of that sweep, as in Usage
};

/// Accounts for `written_bytes` just published, and sweeps to 80 % of the bound when the files exceed it or when the
/// last sweep is more than an hour away. Waits at most a second for other processes that do the same.
void account(const Directory& directory, const LockFolder& locks, std::uint64_t written_bytes, std::uint64_t max_bytes,
             SweepState* state);

}  // namespace ricci::cache
