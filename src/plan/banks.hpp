// What shared memory makes of the accesses of a tile: wavefronts, by the banks that they ask.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "ir/schedule.hpp"

namespace ricci::plan {

/// Wavefronts that one visit of a tile takes in shared memory, from the addresses of every warp (or an even sample of
/// them), scaled to the tile. 32 banks of 4 bytes; accesses of 8 and 16 bytes go by half and quarter warps.
struct Wavefronts {
  double counted = 0, ideal = 0;
};

/// Follows a walk through layouts of equal strides: the addresses are worked out once, each swizzle is put upon them.
class BankCounter {
 public:
  ///   schedule      whose tile the walk visits
  ///   layout        whose strides the addresses have
  ///   sample_warps  how many warps are followed, about
  BankCounter(const ir::Schedule& schedule, const ir::Walk& walk, const ir::SharedLayout& layout,
              std::int64_t element_bytes, int sample_warps);

  /// `layout` has the strides of the constructor's. Counting stops where it is sure that `limit` is reached: the count
  /// is then that limit or more, and no more than the whole one.
  Wavefronts count(const ir::SharedLayout& layout, double limit = std::numeric_limits<double>::infinity());
  /// The least possible.
  double ideal(const ir::SharedLayout& layout);

 private:
  /// The accesses of the warps that are followed, in groups that go together: a warp or an even part of it.
  struct Groups {
    std::vector<std::uint32_t> addresses;  // in elements, before the swizzle; 32 lanes of a warp after the other
    std::vector<std::uint8_t> active;      // lanes of each warp
    std::size_t count = 0, lanes = 32;     // how many groups, and lanes of one
    int word_shift = 0;                    // elements to words of the size of an access, 4 bytes at least
    std::uint32_t banks = 32;
    bool whole_words = true;              // no access is smaller than a bank's word
    double scale = 1;                     // of all warps to those that are followed
    std::int64_t step = 1, followed = 0;  // every so manieth warp, and how many those are
    std::int64_t part = 1;                // elements of a vector in one access
  };
  Groups& groups(const ir::SharedLayout& layout);
  void count_groups(Groups& groups, bool vector) const;
  /// Works the addresses out.
  void follow(Groups& groups) const;

  const ir::Walk& walk_;
  std::vector<std::int64_t> strides_;  // of a step of each digit, in elements
  std::int64_t element_bytes_;
  int sample_warps_;
  bool vectors_;          // the strides leave a vector's elements side by side
  bool distinct_ = true;  // no two elements have the same address
  Groups whole_, apart_;  // vectors in one access, or element by element; empty until they are asked for
};

/// The same for one layout.
Wavefronts wavefronts(const ir::Schedule& schedule, const ir::Walk& walk, const ir::SharedLayout& layout,
                      std::int64_t element_bytes, int sample_warps);

}  // namespace ricci::plan
