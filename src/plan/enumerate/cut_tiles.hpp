// The tiles that blocks of a contraction on a GPU may have: of its rows, its columns and its depth.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

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
  std::shared_ptr<const std::vector<tiles::Tile>> of(const GpuContraction& contraction, CutSide side);
  /// The warps that may share them.
  std::shared_ptr<KnownWarps> warps(const GpuContraction& contraction);

 private:
  std::map<std::vector<std::int64_t>, std::shared_ptr<const std::vector<tiles::Tile>>> known_;
  using AtomKey = std::tuple<std::string, DType, double, std::vector<std::int64_t>>;
  std::map<AtomKey, std::shared_ptr<KnownWarps>> known_warps_;
};

/// Whether rows and columns make a tile of the result that is.
bool suits(const GpuContraction& contraction, const tiles::Tile& rows, const tiles::Tile& columns);

}  // namespace ricci::plan
