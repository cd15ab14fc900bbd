// Wavefronts that the accesses of a tile take in shared memory, by bank conflicts.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernel/permute/moves.hpp"

namespace ricci::plan {

/// Wavefronts of all accesses of a tile to shared memory, counted for every warp or for an even sample, scaled to the
/// tile. 32 banks of 4 bytes; accesses of 8 and 16 bytes go by half and quarter warps.
struct Wavefronts {
  double counted = 0, ideal = 0;
};

/// Counts wavefronts of one mapping for layouts with equal strides: addresses are computed once, each swizzle is
/// applied to them.
class BankCounter {
 public:
  ///   schedule      the schedule of the tile
  ///   layout        gives the strides of the addresses
  ///   sample_warps  about how many warps are sampled
  BankCounter(const kernel::Moves& moves, const kernel::ThreadMapping& mapping, const kernel::SharedLayout& layout,
              std::int64_t element_bytes, int sample_warps);

  /// `layout` must have the strides given to the constructor. Counting stops once `limit` is certainly reached; the
  /// result is then at least the limit and at most the full count.
  Wavefronts count(const kernel::SharedLayout& layout, double limit = std::numeric_limits<double>::infinity());
  /// The count without conflicts.
  double ideal(const kernel::SharedLayout& layout);

 private:
  /// The accesses of the sampled warps, in groups that are served together: a warp, or half or a quarter of it.
  struct Groups {
    std::vector<std::uint32_t> addresses;  // in elements, before the swizzle; 32 lanes of a warp after the other
    std::vector<std::uint8_t> active;      // lanes of each warp
    std::size_t count = 0, lanes = 32;     // how many groups, and lanes of one
    int word_shift = 0;                    // elements to words of the size of an access, 4 bytes at least
    std::uint32_t banks = 32;
    bool whole_words = true;              // no access is smaller than a bank's word
    double scale = 1;                     // number of warps over the number of sampled warps
    std::int64_t step = 1, followed = 0;  // sampling interval in warps, and the number of sampled warps
    std::int64_t part = 1;                // elements of a vector in one access
  };
  Groups& groups(const kernel::SharedLayout& layout);
  void count_groups(Groups& groups, bool vector) const;
  /// Computes the addresses.
  void follow(Groups& groups) const;

  const kernel::ThreadMapping& mapping_;
  std::vector<std::int64_t> strides_;  // of a step of each digit, in elements
  std::int64_t element_bytes_;
  int sample_warps_;
  bool vectors_;          // a vector's elements are contiguous by the strides
  bool distinct_ = true;  // no two elements have the same address
  Groups whole_, apart_;  // with vector accesses, and element by element; empty until needed
};

/// The same for one layout.
Wavefronts wavefronts(const kernel::Moves& moves, const kernel::ThreadMapping& mapping,
                      const kernel::SharedLayout& layout, std::int64_t element_bytes, int sample_warps);

}  // namespace ricci::plan
