#include "kernel/permute/cpu_stage.hpp"

#include <algorithm>
#include <cstdlib>

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

std::vector<std::int64_t> offsets(const std::vector<MixedRadixDigit>& digits, std::size_t first, std::size_t last,
                                  std::span<const std::int64_t> stride) {
  std::vector<std::int64_t> list{0};
  for (std::size_t k = first; k < last; ++k) {
    const auto step = stride[static_cast<std::size_t>(digits[k].index)] * digits[k].step;
    const auto inner = list.size();
    for (std::int64_t n = 1; n < digits[k].count; ++n) {
      for (std::size_t m = 0; m < inner; ++m) list.push_back(list[m] + n * step);
    }
  }
  return list;
}

InputAhead input_ahead(const ir::Program& program, const Moves& moves) {
  constexpr std::int64_t kMostRows = 2048;
  InputAhead prefetch;
  const auto& stage = *moves.stage;
  if (stage.prefetch_distance == 0) return prefetch;
  const auto& load = program.nodes[static_cast<std::size_t>(stage.load)];
  const auto& from = load.offset.coefficient;
  const auto stride = [&](int q) { return from[static_cast<std::size_t>(q)]; };
  auto tile = moves.tile;
  for (const auto q : moves.order) {
    prefetch.in_row = moves.tiles_along(program, q);
    if (prefetch.in_row == 1) continue;
    prefetch.tiles = std::min(stage.prefetch_distance, prefetch.in_row);
    auto& reach = tile[static_cast<std::size_t>(q)];
    reach = std::min(reach * prefetch.tiles, program.indices[static_cast<std::size_t>(q)].extent);
    break;
  }
  ThreadMapping mapping;
  for (int q = 0; q < static_cast<int>(tile.size()); ++q) {
    if (tile[static_cast<std::size_t>(q)] > 1) mapping.digits.push_back({q, tile[static_cast<std::size_t>(q)], 1});
  }
  std::int64_t points = 1;
  for (const auto n : tile) points *= n;
  std::stable_sort(mapping.digits.begin(), mapping.digits.end(),
                   [&](const MixedRadixDigit& one, const MixedRadixDigit& other) {
                     return std::abs(stride(one.index)) < std::abs(stride(other.index));
                   });
  const auto [leading, length] = run_of(mapping, stride, stride);
  const auto size = size_of(load.type);
  if (points / length > kMostRows) return prefetch;
  prefetch.row = offsets(mapping.digits, leading, mapping.digits.size(), from);
  prefetch.length = length;
  // Rows with the alignment of the first one have the fewest lines; others may start anywhere in a line.
  const auto line = std::max<std::int64_t>(kLineBytes / size, 1);
  const auto whole =
      std::all_of(from.begin(), from.end(), [&](std::int64_t step) { return step <= 1 || step % line == 0; });
  const auto asked = length * size + (whole ? 0 : kLineBytes - size);
  const auto& statement = program.statement();
  const auto& to = statement.offset.coefficient;
  const auto out_size = size_of(program.buffers[static_cast<std::size_t>(statement.buffer)].type);
  for (std::size_t q = 0; q < to.size() && stage.line_carry < 0; ++q) {
    const auto step = to[q] == 1 ? moves.tile[q] : to[q];
    prefetch.prefetches_ends = prefetch.prefetches_ends || step * out_size % kLineBytes != 0;
  }
  // Lines that are asked for while the last 8 KB are written need not have arrived: at 16 GB/s that is half a
  // microsecond, and memory under load takes almost as long.
  constexpr std::int64_t kUnderWay = 8192, kPage = 4096;
  const auto tile_bytes = moves.tile_points() * size;
  if (stage.memory == StageMemory::shared) prefetch.early = (kUnderWay - 1) / tile_bytes;
  // On one thread of a Zen 4 all takes twice as long where lines are asked for half a page from those that are written.
  if (tile_bytes % kPage == kPage / 2) prefetch.early += prefetch.early % 2;
  prefetch.lines = (static_cast<std::int64_t>(prefetch.row.size()) * asked + kLineBytes - 1) / kLineBytes;
  return prefetch;
}

}  // namespace ricci::kernel
