// Device models: properties that the planner uses, read from the device or measured on it, never looked up by its name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ricci/tensor.hpp"

namespace ricci::plan {

inline constexpr std::int64_t kSectorBytes = 32;      // of a GPU's memory
inline constexpr std::int64_t kCacheLineBytes = 128;  // of its caches

/// A library of matrix products that plans may call: what it does in large ones, in 10^9 real operations a second; 0
/// where that was not measured.
struct LibraryModel {
  double f32_GFs = 0, f64_GFs = 0, c64_GFs = 0, c128_GFs = 0;
  double rate(DType type) const noexcept;
};

/// The rates as a line, two digits of each, as they are stored; nothing for any other text.
std::string print_rates(const LibraryModel& library);
std::optional<LibraryModel> parse_library_model(std::string_view text);

inline constexpr std::int64_t kMultiprocessorParts = 4;  // each with registers of its own
inline constexpr std::int64_t kRegistersPerPart = 16384;
/// Warps of threads with so many registers that a part has room for; they are given out eight of each lane at a time.
constexpr std::int64_t warps_of_part(int registers) {
  return kRegistersPerPart / (32 * ((std::int64_t{registers} + 7) / 8 * 8));
}

/// Bytes of a multiprocessor's shared memory that each block takes beside its own.
inline constexpr std::int64_t kReservedBytes = 1024;

struct GpuModel {
  int sm = 90;
  int multiprocessors = 132;
  std::int64_t shared_bytes_per_block = 227 * 1024;
  std::int64_t shared_bytes_per_multiprocessor = 228 * 1024;
  int threads_per_multiprocessor = 2048;
  double clock_MHz = 1980;  ///< of the multiprocessors
  double copy_GBs = 0;      ///< read + write rate of a large copy; 0 when it was not measured
  std::optional<LibraryModel> library = {};

  double copy_rate_GBs() const { return copy_GBs > 0 ? copy_GBs : 4200; }  ///< as measured, or else an H200's

  /// Limits that follow from the compute capability, for making kernels without a device.
  static GpuModel of_capability(int sm);
};

/// All properties in one line: devices with equal lines get equal plans.
std::string print(const GpuModel& device);

struct CpuModel {
  int vector_bytes = 16;    ///< widest vectors of the target
  int datapath_bytes = 64;  ///< of a vector that one unit computes in a cycle; wider ones take several
  std::int64_t l1_bytes = 32 * 1024;
  std::int64_t l2_bytes = 1024 * 1024;
  std::int64_t cache_bytes = 32 * 1024 * 1024;  ///< of the last level
  int threads = 1;
  double copy_GBs = 0;       ///< read + write rate of a large copy by `threads` threads; 0 when it was not measured
  double streaming_GBs = 0;  ///< the same with nontemporal stores
  double read_GBs = 0;       ///< of reading alone, and of nontemporal stores alone; 0 when it was not measured
  double write_GBs = 0;
  /// Slowdown of reading 48 rows in turns, a little of each, against one row after the other.
  double slower_rows = 1;
  /// Slowdown of nontemporal stores whose neighbouring lines follow after 256 others, pages apart.
  double slower_apart = 1.4;
  /// That of two units that begin a multiply-add in each cycle while all threads do; of one thread alone.
  double clock_MHz = 3600, clock_alone_MHz = 3600;
  /// Whether its vectors have dot products of bf16 in f32, and of bytes in i32, each as fast as a multiply-add.
  bool dots_bf16 = false, dots_i8 = false;
  double page_ns = 0;  ///< more for a line that is alone on its page, of more pages than translations are kept for
  std::optional<LibraryModel> library = {};  ///< by `threads` threads

  /// The same for one thread, without what was measured for a number of them: decides in which order terms are summed,
  /// so that results do not depend on the number of threads.
  CpuModel alone() const {
    auto model = *this;
    model.threads = 1;
    model.copy_GBs = model.streaming_GBs = model.read_GBs = model.write_GBs = 0;
    model.clock_MHz = clock_alone_MHz;
    return model;
  }

  /// Whether the widest vectors take several turns of a unit.
  bool by_halves() const { return datapath_bytes < vector_bytes; }

  /// Cycles a microsecond as schedules are priced by: of those of the clock, kernels make use of five sixths.
  double cycles_per_us() const { return clock_MHz * 5 / 6; }
  /// Of what takes a time of its own, whatever the clock, cycles in place of each one with the usual clock.
  double far_cycles() const { return cycles_per_us() / 3000; }
  double page_cycles() const { return page_ns * 1e-3 * cycles_per_us(); }

  /// Copy bandwidth per thread: measured, or else `usual`.
  double thread_GBs(bool streaming, double usual) const {
    const double measured = streaming ? streaming_GBs : copy_GBs;
    return measured > 0 ? measured / threads : usual;
  }

  /// Reading rate per thread: measured, or else `usual`.
  double thread_read_GBs(double usual) const;
  /// Microseconds that these bytes take at least where each side has memory for itself, as far as that was measured: a
  /// copy's rate is that of both sides at once, which neither reaches alone.
  double one_way_us(double read, double written) const;

  /// Whether nontemporal stores pay for a kernel that touches that many bytes.
  bool beyond_caches(double bytes) const { return bytes > 0.75 * static_cast<double>(cache_bytes); }
};
std::string print(const CpuModel& device);

}  // namespace ricci::plan
