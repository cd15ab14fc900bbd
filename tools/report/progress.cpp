#include "report/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "report/report.hpp"
#include "report/text.hpp"

namespace ricci::tools {

Progress::Progress(std::string what) : what_(std::move(what)), start_ms_(now_ms()) {
  if (isatty(STDERR_FILENO)) thread_ = std::thread([this] { loop(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(state_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::step(std::string what) {
  const std::lock_guard lock(state_);
  what_ = std::move(what);
  start_ms_ = now_ms();
  share_ = -1;
  left_ms_ = -1;
}

void Progress::share(double done) {
  const std::lock_guard lock(state_);
  share_ = done;
}

void Progress::left_ms(double ms) {
  const std::lock_guard lock(state_);
  left_ms_ = ms;
  left_at_ms_ = now_ms();
}

void Progress::pause(const std::function<void()>& print) {
  const std::lock_guard lock(terminal_);
  wipe();
  print();
}

void Progress::wipe() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

std::string Progress::text() const {
  const double elapsed_ms = now_ms() - start_ms_;
  std::string text = what_;
  if (share_ >= 0) {
    constexpr int kWidth = 24;
    const int done = static_cast<int>(kWidth * std::min(share_, 1.0));
    text += fmt::format(" [{:<{}}] {:3.0f} %", std::string(static_cast<std::size_t>(done), '='), kWidth, 100 * share_);
  }
  text += fmt::format(" {:.1f} s", elapsed_ms / 1000);
  if (left_ms_ >= 0) text += ", about " + duration_text(left_ms_ - (now_ms() - left_at_ms_)) + " left";
  return text;
}

void Progress::loop() {
  constexpr double kQuietMs = 1000;
  bool quiet = true;
  for (;;) {
    std::string line;
    {
      std::unique_lock lock(state_);
      wake_.wait_for(lock, std::chrono::milliseconds(200), [this] { return stop_; });
      if (stop_) break;
      quiet = quiet && now_ms() - start_ms_ < kQuietMs;
      if (quiet) continue;
      line = text();
    }
    const std::lock_guard lock(terminal_);
    fmt::print(stderr, "\r\033[K{}", line);
    std::fflush(stderr);
    shown_ = true;
  }
  const std::lock_guard lock(terminal_);
  wipe();
}

}  // namespace ricci::tools
