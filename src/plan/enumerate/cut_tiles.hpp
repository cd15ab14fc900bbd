// The tiles that blocks of a contraction on a GPU may have: of its rows, its columns and its depth.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "ir/few.hpp"
#include "plan/enumerate/copied_sides.hpp"
#include "plan/enumerate/cut_search.hpp"
#include "plan/enumerate/gpu_contraction.hpp"
#include "plan/enumerate/warp_shares.hpp"

namespace ricci::plan {

enum class CutSide { rows, columns, depth };

/// Those that are worth a look.
std::vector<tiles::Tile> cut_tiles(const GpuContraction& contraction, CutSide side);

/// The same, each found once: contractions that one plan looks at differ in one operand or in the result, and have
/// other sides alike.
class CutTiles {
 public:
  using List = std::shared_ptr<const std::vector<tiles::Tile>>;
  List of(const GpuContraction& contraction, CutSide side);
  /// What is copied for tiles of the rows or the columns, which are of() the contraction like the chunks of its depth.
  std::shared_ptr<KnownCopies> copies(const GpuContraction& contraction, bool of_rows,
                                      const std::vector<tiles::Tile>& sides, const std::vector<tiles::Tile>& chunks);
  /// Room for one search at a time, which each thread keeps.
  static CutSearch& search() {
    thread_local CutSearch room;
    return room;
  }

 private:
  using Key = ir::Few<std::int64_t, 48>;
  /// What they follow from tells them: each thread keeps some, as axes of a few extents make many contractions.
  static List kept_tiles(const GpuContraction& contraction, CutSide side, const Key& key);

  std::map<Key, List> known_;
  using Lists = std::array<const std::vector<tiles::Tile>*, 2>;
  std::map<std::pair<Lists, Key>, std::shared_ptr<KnownCopies>> known_copies_;
};

/// The warps that may share tiles of the rows and columns of a contraction, which follow from its atom: each thread
/// keeps them.
std::shared_ptr<KnownWarps> known_warps(const GpuContraction& contraction, const GpuModel& device);

/// Whether rows and columns make a tile of the result that is.
bool suits(const GpuContraction& contraction, const tiles::Tile& rows, const tiles::Tile& columns);

}  // namespace ricci::plan
