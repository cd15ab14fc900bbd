// Who touched each piece of a buffer last, and whether the next access is ordered after that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ricci::simt {

constexpr unsigned kWarp = 32;

/// The clock of a run: it advances with every synchronisation, so a stamp tells what has been synchronised since.
struct Clock {
  std::uint32_t now = 0;
  std::uint32_t block = 0;                  ///< start of the running block, or cluster
  std::uint32_t cluster = 0;                ///< last barrier of the cluster, or its start
  std::vector<std::uint32_t> barrier;       ///< last __syncthreads of each block that runs
  std::vector<std::uint32_t> warp;          ///< last __syncwarp of each warp
  std::vector<std::uint32_t> awaited = {};  ///< last wait of each thread for boxes of tensor maps
  unsigned threads = 1024;                  ///< of a block: those of a cluster are numbered block by block

  unsigned block_of(unsigned thread) const { return thread / threads; }
  std::uint32_t barrier_of(unsigned thread) const { return barrier[block_of(thread)]; }
  /// The last barrier that both threads were at.
  std::uint32_t met(unsigned thread, unsigned other) const {
    return block_of(thread) == block_of(other) ? barrier_of(thread) : cluster;
  }
};

enum class Clash : std::uint8_t { none, race, in_flight, block, uninitialised };

struct Conflict {
  Clash clash = Clash::none;
  bool other_wrote = false;
  unsigned other_thread = 0;
  std::uint32_t other_site = 0;
  std::uint32_t other_stamp = 0;
};

/// Shadow of one buffer. Two accesses are ordered when they are of one thread, or of one block with __syncthreads
/// between, or of one cluster with its barrier between, or of one warp with __syncwarp between; shuffles order nothing,
/// as on the GPU.
class Shadow {
 public:
  /// `offset_bits`: the low 4 bits of the buffer's address, so that naturally aligned accesses stay within cells.
  void reset(std::size_t bytes, unsigned offset_bits, bool shared);

  /// Notes an access and says whether it clashes with an earlier one.
  Conflict access(std::size_t offset, unsigned bytes, bool write, unsigned thread, std::uint32_t site,
                  const Clock& clock, bool check_uninitialised) {
    Conflict first;
    for_cells(offset, bytes, [&](Cell& cell) {
      const Conflict found =
          write ? note_write(cell, thread, site, clock) : note_read(cell, thread, site, clock, check_uninitialised);
      if (first.clash == Clash::none) first = found;
    });
    return first;
  }

  /// Notes an atomic addition: a write, but additions do not clash with each other.
  Conflict add(std::size_t offset, unsigned bytes, unsigned thread, std::uint32_t site, const Clock& clock);
  /// Notes that an asynchronous copy to there begins: a write now, and until it lands the place must not be touched.
  Conflict issue(std::size_t offset, unsigned bytes, unsigned thread, std::uint32_t site, const Clock& clock);
  /// A copy from there, issued at that time, is over: a write since then clashes with it. What its own thread wrote
  /// without a synchronisation between is taken for older than the copy.
  Conflict leave(std::size_t offset, unsigned bytes, std::uint32_t issued);
  /// The thread has waited for its copy to there, which is as good as written by it now.
  void land(std::size_t offset, unsigned bytes, unsigned thread, const Clock& clock);
  /// A box has come, now: all threads that wait for it see it.
  void arrive(std::size_t offset, unsigned bytes, const Clock& clock);

 private:
  struct Cell {
    std::uint32_t write_stamp = 0, read_stamp = 0;  // 0: never
    std::uint32_t write_site = 0, read_site = 0;
    std::uint32_t reader = 0;  // thread and the flags below
    std::uint16_t write_thread = 0;
    // Thread + 1 whose copy, issued at write_stamp, has not landed; 0: none. Those of earlier blocks do not count.
    std::uint16_t copier = 0;
    bool added = false;    // the last write was an atomic addition
    bool arrived = false;  // or by a tensor map
  };
  // Set until the synchronisation that ends them.
  static constexpr std::uint32_t kThreadMask = 0x1fff, kManyLanes = 0x2000, kManyWarps = 0x4000, kCluster = 0x8000;
  // Two blocks have read it, or clusters. Never reset.
  static constexpr std::uint32_t kManyBlocks = 0x10000;

  Conflict note_read(Cell& cell, unsigned thread, std::uint32_t site, const Clock& clock,
                     bool check_uninitialised) const;
  Conflict note_write(Cell& cell, unsigned thread, std::uint32_t site, const Clock& clock, bool adds = false) const;
  /// Whether the last write is ordered before an access of the thread now.
  static bool after_write(const Cell& cell, unsigned thread, const Clock& clock);
  static bool in_flight(const Cell& cell, const Clock& clock) {
    return cell.copier != 0 && cell.write_stamp >= clock.block;
  }
  template <class Visit>
  void for_cells(std::size_t offset, unsigned bytes, const Visit& visit) {
    offset += offset_bits_;
    if (bytes < granule_ || cells_.empty()) refine(bytes);
    for (std::size_t cell = offset >> shift_, end = (offset + bytes - 1) >> shift_; cell <= end; ++cell)
      visit(cells_[cell]);
  }
  void refine(unsigned bytes);

  std::vector<Cell> cells_;
  std::size_t bytes_ = 0;
  unsigned offset_bits_ = 0, granule_ = 16, shift_ = 4;
  bool shared_ = false;
};

}  // namespace ricci::simt
