// One line on a terminal for work that takes longer than a second.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace ricci::tools {

/// While it lives, what is being done and for how long stands on the last line of stderr, from the second second on,
/// and is wiped at the end. Does nothing where stderr is not a terminal. Thread-safe.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Names the next step; the time starts again.
  void step(std::string what);
  /// Share of the step that is done, 0 to 1.
  void share(double done);
  /// How long the rest of the step will take.
  void left_ms(double ms);
  /// Wipes the line while something else is printed to the terminal.
  void pause(const std::function<void()>& print);

 private:
  void loop();
  void wipe();               // with terminal_ held
  std::string text() const;  // with state_ held

  // A terminal may take nothing for as long as it likes (Ctrl-S): who reports never waits for it.
  std::mutex state_, terminal_;
  std::condition_variable wake_;
  std::string what_;
  double start_ms_ = 0;
  double share_ = -1;  // below 0: not known
  double left_ms_ = -1, left_at_ms_ = 0;
  bool stop_ = false;
  bool shown_ = false;  // guarded by terminal_, all before it by state_
  std::thread thread_;
};

}  // namespace ricci::tools
