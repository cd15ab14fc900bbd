// One line on a terminal for work that takes a while.
#pragma once

#include <chrono>
#include <string>

namespace examples {

/// A bar on stderr, from the second second on, wiped at the end; nothing where stderr is no terminal.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void done(double share);  ///< 0 to 1

 private:
  std::string what_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int shown_ = -1;  // per mille; -1: nothing yet
};

}  // namespace examples
