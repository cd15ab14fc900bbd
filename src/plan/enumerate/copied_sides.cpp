#include "plan/enumerate/copied_sides.hpp"

#include <limits>

namespace ricci::plan {

const CopiedSide& CopiedSides::of(std::size_t number) {
  auto& side = known_.sides[number];
  if (!side.rounds.empty()) return side;
  auto& rounds = known_.rounds;
  if (rounds.empty()) {
    rounds.reserve(known_.sides.size() * chunks_.size());
    known_.places.resize(chunks_.size());
  }
  const auto first = rounds.size();
  constexpr auto kAny = std::numeric_limits<double>::infinity();
  side.sum = {kAny, kAny, kAny, kAny, kAny};
  const auto& tile = tiles_[number];
  CopiedPlace place;
  for (std::size_t k = 0; k < chunks_.size(); ++k) {
    const auto& chunk = chunks_[k];
    auto& of_all = known_.places[k];
    if (of_all.of_all_sides) {
      place = of_all;
    } else if (!place.of_all_chunks) {
      place = copies_.place(tile, chunk);
      if (place.of_all_sides) of_all = place;
    }
    auto& round = rounds.emplace_back();
    copies_.find(tile, chunk, place, round.copies);
    round.least = CutCounts::copied_round(round.copies);
    side.sum.lower(round.least, static_cast<double>(chunk.blocks));
  }
  side.rounds = {rounds.data() + first, chunks_.size()};
  return side;
}

}  // namespace ricci::plan
