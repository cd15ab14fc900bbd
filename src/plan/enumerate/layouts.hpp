// Layouts of staged tiles in shared memory: the search for one without bank conflicts.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/permute/moves.hpp"
#include "plan/models/axes.hpp"

namespace ricci::plan {

/// The tile's elements in one side's order, each row of the fastest axis `pad` elements longer.
kernel::SharedLayout linear_layout(const Sides& sides, const std::vector<std::int64_t>& tile, bool read,
                                   std::int64_t pad);

/// Finds layouts for schedules of one program, and caches them.
class LayoutSearch {
 public:
  LayoutSearch(const Sides& sides, std::int64_t shared_bytes_per_block)
      : sides_(sides), most_bytes_(shared_bytes_per_block) {}

  struct Found {
    kernel::SharedLayout layout;
    double wavefronts, ideal;  ///< of that layout, from more sample warps than in the search
  };
  /// The layout with the fewest wavefronts for a schedule that keeps its tile in shared memory. Valid until the next
  /// call.
  const Found& best(const kernel::Moves& moves);

 private:
  kernel::SharedLayout search(const kernel::Moves& moves) const;

  /// Everything that the layout depends on.
  struct Searched {
    std::vector<std::int64_t> tile;
    int read_vector, write_vector, rows;
    bool skewed;
    int workers;
    Found found;
  };
  const Sides& sides_;
  std::int64_t most_bytes_;
  std::vector<Searched> searched_;
};

}  // namespace ricci::plan
