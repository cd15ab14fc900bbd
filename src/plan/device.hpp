// What the planner knows of a device: figures that are read from it or measured on it, never looked up by name.
#pragma once

#include <cstdint>
#include <string>

namespace ricci::plan {

struct GpuFigures {
  int sm = 90;
  int multiprocessors = 132;
  std::int64_t shared_bytes_per_block = 227 * 1024;
  std::int64_t shared_bytes_per_multiprocessor = 228 * 1024;
  int threads_per_multiprocessor = 2048;
  double clock_MHz = 1980;  ///< of the multiprocessors
  double copy_GBs = 0;      ///< read + write rate of a large copy; 0 when it was not measured

  double copy_rate_GBs() const { return copy_GBs > 0 ? copy_GBs : 4200; }  ///< as measured, or else an H200's

  /// Limits that follow from the compute capability, for making kernels without a device.
  static GpuFigures of_capability(int sm);
};

/// All of them in a line: devices with the same ones get the same plans.
std::string print(const GpuFigures& figures);

struct CpuFigures {
  int vector_bytes = 16;  ///< widest vectors of the target
  std::int64_t l1_bytes = 32 * 1024;
  std::int64_t l2_bytes = 1024 * 1024;
  std::int64_t cache_bytes = 32 * 1024 * 1024;  ///< of the last level
  int threads = 1;
  double copy_GBs = 0;       ///< read + write rate of a large copy by `threads` threads; 0 when it was not measured
  double streaming_GBs = 0;  ///< the same with stores past the caches
  /// How many times as long it takes to read 48 rows a little of each in turn as to read them one after the other.
  double slower_rows = 1;
  /// How many times as long lines past the caches take whose neighbours follow after 256 others, pages apart.
  double slower_apart = 1.4;

  /// Of a copy, for each thread: as it was measured, or else `usual`.
  double thread_GBs(bool streaming, double usual) const {
    const double measured = streaming ? streaming_GBs : copy_GBs;
    return measured > 0 ? measured / threads : usual;
  }

  /// Whether a kernel that touches so many bytes is better off writing past the caches.
  bool beyond_caches(double bytes) const { return bytes > 0.75 * static_cast<double>(cache_bytes); }
};
std::string print(const CpuFigures& figures);

}  // namespace ricci::plan
