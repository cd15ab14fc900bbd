// Measurements as text for the tuning store: for a problem, the timed candidates and the winner; for a device, its
// memory bandwidths.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::plan {

struct TimedSchedule {
  std::string name;  ///< of a candidate
  double us = 0;     ///< median
  int samples = 0;   ///< 0: dropped after two runs; `us` is the better one
};

/// The winner first; at least one.
struct Tuning {
  std::vector<TimedSchedule> timed;
  std::string schedule = {};  ///< the winner's schedule as ir::print() writes it; empty: find it by name
  const TimedSchedule& winner() const { return timed.front(); }
  /// What was measured for a schedule, or null.
  const TimedSchedule* find(std::string_view name) const;
};

/// A table of lines "us <tab> samples <tab> schedule" under a head; then an empty line and the winner's schedule.
std::string print(const Tuning& tuning);

/// Parses what print() wrote; nothing for any other text.
std::optional<Tuning> parse_tuning(std::string_view text);

/// Memory bandwidths in GB/s, for buffers larger than the caches; a copy counts reads and writes. What threads compute
/// together, and what a page costs each of them.
struct MemoryRates {
  int threads = 0;           ///< 0: a GPU, which has copy_GBs alone
  double copy_GBs = 0;       ///< with ordinary stores
  double streaming_GBs = 0;  ///< with nontemporal stores
  double read_GBs = 0;       ///< line after line
  double ahead_GBs = 0;      ///< the same with lines of the next page asked for ahead
  double rows_GBs = 0;       ///< two lines of each of 48 rows in turns: more rows than hardware prefetchers follow
  double write_GBs = 0;      ///< nontemporal stores, line after line
  double apart_GBs = 0;      ///< the same where neighbouring lines follow after 256 others with equal low address bits
  double multiply_GFs = 0;   ///< multiply-adds of f64 by the target's widest vectors, 10^9 operations a second
  /// Nanoseconds more for a line that is alone on its page, of more pages than translations are kept for: of memory as
  /// large tensors have it, in large pages where the system gives them, and of pages of 4096 bytes.
  double page_ns = 0, small_page_ns = 0;
};

/// By rising numbers of threads; at least one.
struct MeasuredMemory {
  std::vector<MemoryRates> rates;
  /// Of as many threads, or of the next smaller number that was measured.
  const MemoryRates& of(int threads) const;
};

/// Each figure as the better of two measurements of a device has it, as others may have worked on it meanwhile; of
/// pages as `latest` has it: a difference of two times may be too small as well.
MeasuredMemory better_of(const MeasuredMemory& latest, const MeasuredMemory& before);

/// A table. Two digits of each figure are kept: the rest is noise, and nothing that is planned should depend on it.
std::string print(const MeasuredMemory& measured);

/// Parses what print() wrote; nothing for any other text.
std::optional<MeasuredMemory> parse_measured_memory(std::string_view text);

}  // namespace ricci::plan
