#include "kernel/permute/register_stage.hpp"

#include <algorithm>
#include <array>

#include "kernel/kernel.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

constexpr std::int64_t kMostHeld = 255 * 4;  // bytes of a thread's registers

/// Points of a tile in the order of a mapping, and how that is dealt out.
std::array<Layout, 2> layouts(const std::vector<std::int64_t>& tile, const ThreadMapping& mapping) {
  const std::int64_t vector = mapping.vector, workers = mapping.workers;
  Layout dealt{.shape = {mapping.positions() * vector, 1, 1}}, order;
  dealt.add(LayoutAxis::reg, vector, 0, 1)
      .add(LayoutAxis::lane, kWarp, 0, vector)
      .add(LayoutAxis::warp, workers / kWarp, 0, kWarp * vector)
      .add(LayoutAxis::reg, mapping.rounds(), 0, workers * vector);
  for (const auto& digit : mapping.digits) {
    std::int64_t weight = digit.step;  // of the digit in a point's number
    for (int q = 0; q < digit.index; ++q) weight *= tile[static_cast<std::size_t>(q)];
    order.add(LayoutAxis::memory, digit.count, 0, weight);
  }
  return {dealt, order};
}

bool fits_layout(const ThreadMapping& mapping) {
  const auto several = [](const MixedRadixDigit& digit) { return digit.count > 1; };
  const auto count = std::count_if(mapping.digits.begin(), mapping.digits.end(), several);
  return count <= static_cast<std::ptrdiff_t>(Layout::kMostModes);
}

}  // namespace

Exchange exchange_of(const Moves& moves) {
  return exchange(layouts(moves.tile, moves.mapping), layouts(moves.tile, moves.stage->mapping));
}

std::optional<SharedLayout> layout_between_warps(const Moves& moves) {
  if (moves.mapping.workers <= kWarp || exchange_of(moves).by != Exchange::By::memory) return std::nullopt;
  SharedLayout layout;
  layout.stride.assign(moves.tile.size(), 0);
  layout.elements = 1;
  for (const auto& digit : moves.stage->mapping.digits) {
    const auto q = static_cast<std::size_t>(digit.index);
    if (layout.stride[q] != 0 || moves.tile[q] == 1) continue;
    layout.stride[q] = layout.elements;
    layout.elements *= moves.tile[q];
    if (layout.stride[q] == 1) layout.elements |= 1;
  }
  return layout;
}

void verify_register_stage(const Moves& moves, const ir::Program& program) {
  const auto require = [](bool holds, const char* rule) {
    if (!holds) throw PlanError(std::string("schedule: ") + rule);
  };
  const auto& reads = moves.stage->mapping;
  if (reads.workers == 1) return;
  require(reads.workers % kWarp == 0 && reads.workers <= kMostThreads,
          "write: registers belong to whole warps of a block");
  require(fits_layout(reads) && fits_layout(moves.mapping), "stage: a tile in registers has 16 digits at most");
  const auto size = size_of(program.nodes[static_cast<std::size_t>(moves.stage->load)].type);
  require(std::max(reads.rounds() * reads.vector, moves.mapping.rounds() * moves.mapping.vector) * size <= kMostHeld,
          "stage: a thread's part of a tile fits into its registers");
  require(moves.tiles_per_block() == 1 || !layout_between_warps(moves),
          "threads: a tile whose elements pass between warps has a block to itself");
}

}  // namespace ricci::kernel
