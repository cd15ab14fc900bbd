#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "report.hpp"

namespace ricci::tools {

Progress::Progress(std::string what) : what_(std::move(what)), start_ms_(now_ms()) {
  if (isatty(STDERR_FILENO)) thread_ = std::thread([this] { loop(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::step(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  start_ms_ = now_ms();
  share_ = -1;
}

void Progress::share(double done) {
  const std::lock_guard lock(mutex_);
  share_ = done;
}

void Progress::loop() {
  constexpr double kQuietMs = 1000;
  bool shown = false;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    wake_.wait_for(lock, std::chrono::milliseconds(200), [this] { return stop_; });
    const double elapsed_ms = now_ms() - start_ms_;
    if (stop_ || (!shown && elapsed_ms < kQuietMs)) continue;
    const std::string share = share_ < 0 ? "" : fmt::format(" {:3.0f} %", 100 * share_);
    fmt::print(stderr, "\r\033[K{}{} {:.1f} s", what_, share, elapsed_ms / 1000);
    std::fflush(stderr);
    shown = true;
  }
  if (shown) {
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
  }
}

}  // namespace ricci::tools
