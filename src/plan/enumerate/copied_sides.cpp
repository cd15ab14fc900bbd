#include "plan/enumerate/copied_sides.hpp"

namespace ricci::plan {

const CopiedSide& CopiedSides::of(std::size_t number) {
  auto& side = known_[number];
  if (!side.copies.empty()) return side;
  side.copies.reserve(chunks_.size());
  side.rounds.reserve(chunks_.size());
  for (const auto& chunk : chunks_) {
    side.copies.push_back(copies_.of(tiles_[number], chunk));
    side.rounds.push_back(CutCounts::copied_round(side.copies.back()));
  }
  side.sum = CutCounts::copied_sum(side.rounds, chunks_);
  return side;
}

}  // namespace ricci::plan
