#include "progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace examples {
namespace {

constexpr int kWidth = 40;

}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)) {}

Progress::~Progress() {
  if (shown_ >= 0) std::fputs("\r\033[K", stderr);
}

void Progress::done(double share) {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const int now = static_cast<int>(1000 * share);
  if (seconds < 1 || now == shown_ || isatty(STDERR_FILENO) == 0) return;
  shown_ = now;
  const int full = static_cast<int>(kWidth * share);
  const std::string bar = std::string(full, '#') + std::string(kWidth - full, '.');
  const double left = share > 0 ? seconds * (1 - share) / share : 0;
  std::fprintf(stderr, "\r\033[K%s [%s] %5.1f %%, %.0f s to go", what_.c_str(), bar.c_str(), 100 * share, left);
  std::fflush(stderr);
}

}  // namespace examples
