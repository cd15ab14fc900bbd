// Where benches run: memory, a clock, a copy to compare with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ricci::tools {

/// Where the cases run: memory, a clock, a copy to compare with.
class Bench {
 public:
  virtual ~Bench() = default;
  virtual std::string device_name() const = 0;
  /// Medians of milliseconds of a call over `repeat` runs of each function, the functions taking turns; a run is
  /// `least` calls, one right after the other. On a CPU short calls are more, so that a clock can time them.
  virtual std::vector<double> time(const std::vector<std::function<void()>>& functions, int repeat, int least = 1) = 0;
  /// How many calls are a run at least: several where a launch would be what is measured, because so few bytes are
  /// touched that they stay in the cache of the device.
  int calls(std::int64_t bytes) const { return bytes <= cache_bytes() ? kCalls : 1; }
  /// A GPU: launches a kernel that does nothing. A CPU has none.
  virtual std::function<void()> nothing() = 0;
  virtual void copy(std::int64_t bytes) = 0;
  virtual void* input() = 0;
  virtual void* output() = 0;
  virtual const unsigned char* fetch_output(std::int64_t bytes) = 0;
  virtual void poison(std::int64_t bytes) = 0;
  /// More memory of the device, kept until the end, and how it is filled and read from the host.
  virtual void* allocate(std::int64_t bytes) = 0;
  virtual void release_allocated() = 0;
  virtual void upload(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void fetch(void* to, const void* from, std::int64_t bytes) = 0;
  const unsigned char* pattern() const { return pattern_.data(); }

 protected:
  static constexpr std::int64_t kPatternBytes =
      48 << 20;  // the input repeats it; 2^k * 3, so that no extent hides a mistake
  static constexpr int kCalls = 200;
  Bench();
  virtual std::int64_t cache_bytes() const = 0;
  std::vector<unsigned char> pattern_;

 public:
  static std::int64_t pattern_bytes() { return kPatternBytes; }
};

/// Input and output of `bytes` each, on the calling thread's GPU or on `threads` threads of the CPU.
std::unique_ptr<Bench> make_bench(bool gpu, std::int64_t bytes, int threads);

}  // namespace ricci::tools
