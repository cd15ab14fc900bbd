// How far a call has come, told while it works.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

namespace ricci::runtime {

/// The progress function of one call, and what it threw. Thread-safe; the function is called on one thread at a time.
class Watch {
 public:
  /// total: the work of all kernels, in units of one's own.
  Watch(const std::function<void(double)>& tell, double total) : tell_(tell), total_(total) {}

  /// Runs tiles [first, end) of a kernel as run(from, to), in pieces of some hundredths of a second, whose number of
  /// tiles is guessed to be `piece` at first; tells after each what is done. Stops between two pieces when the progress
  /// function has thrown.
  template <class Run>
  void run(std::int64_t first, std::int64_t end, std::int64_t piece, double work_per_tile, const Run& run) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kShort = std::chrono::milliseconds(10), kLong = std::chrono::milliseconds(50);
    while (first < end && !stopped_) {
      const auto to = piece < end - first ? first + piece : end;
      const auto start = Clock::now();
      run(first, to);
      const auto took = Clock::now() - start;
      add(static_cast<double>(to - first) * work_per_tile);
      if (took < kShort) piece *= 2;
      if (took > kLong && piece > 1) piece /= 2;
      first = to;
    }
  }

  bool stopped() const noexcept { return stopped_; }
  /// Throws what the progress function threw; else tells that all is done.
  void finish();

 private:
  void add(double work);
  void tell(double share);  // with the lock held

  const std::function<void(double)>& tell_;
  const double total_;
  std::mutex mutex_;
  double done_ = 0;
  std::atomic<bool> stopped_ = false;
  std::exception_ptr thrown_;
};

}  // namespace ricci::runtime
