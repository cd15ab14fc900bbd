// The predicted time of moves on a CPU.
#pragma once

#include <limits>
#include <optional>

#include "plan/models/axes.hpp"
#include "plan/models/device_model.hpp"
#include "plan/models/moves_candidate.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {

using kernel::kLineBytes;

/// What a kernel that moves elements does, counted: what its prediction is made of.
struct CpuMoveCounts {
  /// Times that tiles move an element, on average: the last one along an index begins earlier, so that it is whole.
  double tiles = 1;
  /// Times that the blocks of a tile do, which begin earlier at its ends: along the input's rows, and across them.
  double along = 1, across = 1;
  /// Of a block: rows that it reads, columns that it writes, vectors that it transposes. What it reads again where
  /// vectors hold several rows, and it has fewer, is in the first cache and not counted.
  double rows = 1, columns = 1, vectors = 1;
  double run = 1;  ///< neighbours in an array that are moved into it one after the other, from one row or several
};
CpuMoveCounts counts_of(const Sides& sides, const kernel::Moves& moves);

/// Whether runs of that many bytes in the output begin or end within lines.
bool lines_are_shared(const Sides& sides, std::int64_t run_bytes);

/// Nanoseconds of one thread for one element, its memory aside.
double element_ns(const Sides& sides, const kernel::Moves& moves);

/// Whether copies of so many bytes, those of both tensors, are bound by memory.
bool waits_for_memory(double bytes, const CpuModel& device);

/// What a copy takes at least that reads and writes so many bytes together, whatever its order and moves.
double least_copy_us(double bytes, const CpuModel& device);

/// Prices the moves of one program on all threads, from what both sides touch and how elements are moved. Rates were
/// measured on an AMD EPYC (Zen 5); what counts is how they fall with the length of runs, which is alike on other
/// processors.
class CpuMovePrices {
 public:
  CpuMovePrices(const Sides& sides, const CpuModel& device);

  /// What moves touch, and how long that is predicted to take, without a name; nothing where that is not below
  /// `below_us`.
  std::optional<MovesCandidate> priced(const kernel::Moves& moves,
                                       double below_us = std::numeric_limits<double>::infinity()) const;
  /// What such moves take at least, whatever the blocks that an array is filled by.
  double least_us(const kernel::Moves& moves) const;

 private:
  double least_us(const kernel::Moves& moves, double moving_ns) const;
  /// Nanoseconds that memory or caches take at least, whatever runs such moves read and write.
  double least_memory_ns(const kernel::Moves& moves) const;
  double memory_ns(const kernel::Moves& moves, const Traffic& traffic) const;
  bool beyond_caches() const { return waits_for_memory(read_bytes_ + write_bytes_, device_); }

  const Sides& sides_;
  const CpuModel& device_;
  SideCounter write_;
  std::optional<SideCounter> read_;  ///< none where nothing is read
  double points_, read_bytes_ = 0, write_bytes_;
};

}  // namespace ricci::plan
