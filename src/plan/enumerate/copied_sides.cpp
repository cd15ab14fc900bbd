#include "plan/enumerate/copied_sides.hpp"

#include <limits>

namespace ricci::plan {

const CopiedSide& CopiedSides::of(std::size_t number) {
  auto& side = known_[number];
  if (!side.rounds.empty()) return side;
  side.rounds.reserve(chunks_.size());
  constexpr auto kAny = std::numeric_limits<double>::infinity();
  side.sum = {kAny, kAny, kAny, kAny, kAny};
  for (const auto& chunk : chunks_) {
    auto& round = side.rounds.emplace_back(copies_.of(tiles_[number], chunk), CopiedSum());
    round.least = CutCounts::copied_round(round.copies);
    side.sum.lower(round.least, static_cast<double>(chunk.blocks));
  }
  return side;
}

}  // namespace ricci::plan
