#include "kernel/permute/cpu_stage.hpp"

#include "kernel/kernel.hpp"

namespace ricci::kernel {

LineCarry line_carry_of(const ir::Program& program, const Moves& moves) {
  const auto& to = program.statement().offset.coefficient;
  const auto& kept = moves.stage->layout.stride;
  const auto length = run_of(
                          moves.mapping, [&](int q) { return to[static_cast<std::size_t>(q)]; },
                          [&](int q) { return kept[static_cast<std::size_t>(q)]; })
                          .second;
  LineCarry carry;
  carry.runs = moves.tile_points() / length;
  for (const auto q : moves.order) {
    const auto tiles = moves.tiles_along(program, q);
    const auto tile = moves.tile[static_cast<std::size_t>(q)];
    if (tiles > 1 && to[static_cast<std::size_t>(q)] * tile == length) {
      carry.index = q;
      carry.tiles = program.indices[static_cast<std::size_t>(q)].extent / tile;
      return carry;
    }
    carry.apart *= tiles;
  }
  return carry;
}

StageArrays stage_arrays(const ir::Program& program, const Moves& moves) {
  StageArrays kept;
  if (!moves.stage || moves.stage->memory != StageMemory::shared) return kept;
  const auto& stage = *moves.stage;
  const auto size = size_of(program.nodes[static_cast<std::size_t>(stage.load)].type);
  const auto line = std::max<std::int64_t>(kLineBytes / size, 1);
  const auto whole_lines = [&](std::int64_t elements) { return (elements + line - 1) / line * line; };
  kept.arrays = stage.prefetch_distance > 0 ? 2 : 1;
  // Storing part of a line reads a whole line of the array.
  kept.elements = whole_lines(stage.layout.elements) + (moves.streaming ? line : 0);
  if (stage.line_carry >= 0) {
    kept.before = line;
    kept.elements += line;
    const auto carry = line_carry_of(program, moves);
    kept.carried = carry.apart * carry.runs * line;
  }
  kept.bytes = (kept.arrays * kept.elements + kept.carried) * size;
  return kept;
}

TransposeBlock transpose_block(const Moves& moves) {
  constexpr int kMostRows = 16;  // limited by the registers that a transpose needs besides
  const auto& stage = *moves.stage;
  TransposeBlock block;
  for (int k = 0; k < stage.along; ++k) block.along *= stage.mapping.digits[static_cast<std::size_t>(k)].count;
  for (int k = 0; k < stage.across; ++k) block.across *= moves.mapping.digits[static_cast<std::size_t>(k)].count;
  block.columns = stage.mapping.vector;
  block.row_packing = stage.row_packing;
  const int vectors = std::min(block.columns, kMostRows);
  block.rows = static_cast<int>(std::min<std::int64_t>(std::int64_t{block.row_packing} * vectors, block.across));
  if (block.row_packing > 1) block.piece = block.row_packing * vectors;
  while (block.piece < block.rows) block.piece *= 2;
  return block;
}

}  // namespace ricci::kernel
