// Ricci's own threads: fork and join in a microsecond or two, and nothing for work that one thread does faster.
#pragma once

#include <memory>

namespace ricci::runtime {

/// Threads that a runtime may have: more than any machine has processors, fewer than what exhausts one.
inline constexpr int kMaxThreads = 1024;

/// Processors the calling thread may run on: those of its affinity mask. At least 1.
int allowed_processors();

/// RICCI_THREADS, else allowed_processors(). A value that is not a number from 1 to
/// kMaxThreads is a warning; a larger number is kMaxThreads.
int default_threads();

/// Whether RICCI_PIN asks for threads that stay on one processor each. Values other than 0 and 1 are a warning.
bool default_pinned();

/// Runs body(context, task) for every task in [0, tasks). The caller takes part. As long as no thread is late each one
/// has the same task in every call: the caller task 0, worker k task k. If the pool is busy with another
/// caller's work, or the process is a fork of the one that made the pool, the caller does everything itself: never a
/// dead-lock, never more threads than asked for. `body` must not throw.
class ThreadPool {
 public:
  /// pinned: worker k stays on the k-th processor of the caller's affinity mask, counted from 0 and around; the calling
  /// thread, which takes part, is left alone.
  explicit ThreadPool(int threads, bool pinned = false);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  int threads() const noexcept;
  void run(int tasks, void (*body)(void* context, int task), void* context);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ricci::runtime
