#include "kernel/permute/moves.hpp"

#include <fmt/format.h>

#include "kernel/permute/register_stage.hpp"

namespace ricci::kernel {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::int64_t ThreadMapping::count(std::size_t k) const noexcept {
  return digits[k].count / (k == 0 ? vector : k == 1 ? rows : 1);
}

std::int64_t ThreadMapping::step(std::size_t k) const noexcept { return digits[k].step * (k == 0 ? vector : 1); }

std::int64_t ThreadMapping::positions() const noexcept {
  std::int64_t product = 1;
  for (const auto& digit : digits) product *= digit.count;
  return product / vector / rows;
}

std::int64_t ThreadMapping::rounds() const noexcept { return ceil_div(positions(), workers); }

std::int64_t Moves::tiles(const ir::Program& program) const noexcept {
  std::int64_t product = 1;
  for (int q = 0; q < static_cast<int>(tile.size()); ++q) product *= tiles_along(program, q);
  return product;
}

std::int64_t Moves::tiles_along(const ir::Program& program, int q) const noexcept {
  const auto lead = q == skew.index ? skew.elements - 1 : 0;
  return ceil_div(program.indices[static_cast<std::size_t>(q)].extent + lead, tile[static_cast<std::size_t>(q)]);
}

std::int64_t Moves::tile_points() const noexcept {
  std::int64_t product = 1;
  for (const auto extent : tile) product *= extent;
  return product;
}

int Moves::tiles_per_block() const noexcept { return threads / mapping.workers; }

std::int64_t Moves::blocks(const ir::Program& program) const noexcept {
  return ceil_div(tiles(program), tiles_per_block());
}

std::int64_t Moves::shared_bytes(const ir::Program& program) const {
  if (!stage) return 0;
  auto elements = stage->layout.elements;
  if (stage->memory == StageMemory::registers) {
    const auto between = layout_between_warps(*this);
    elements = between ? between->elements : 0;
  }
  return elements * size_of(program.nodes[static_cast<std::size_t>(stage->load)].type);
}

bool strides_keep_vectors(const std::vector<std::int64_t>& tile, const SharedLayout& layout,
                          const ThreadMapping& mapping) noexcept {
  if (mapping.vector == 1) return true;
  const auto first = static_cast<std::size_t>(mapping.digits[0].index);
  for (std::size_t q = 0; q < layout.stride.size(); ++q) {
    if (q == first ? layout.stride[q] != 1 : tile[q] > 1 && layout.stride[q] % mapping.vector != 0) return false;
  }
  return true;
}

bool swizzle_keeps_vectors(const SharedLayout& layout, const ThreadMapping& mapping) noexcept {
  return layout.mask == 0 || (1 << layout.unit) >= mapping.vector;
}

bool keeps_vectors(const Moves& moves, const ThreadMapping& mapping) noexcept {
  const auto& layout = moves.stage->layout;
  return strides_keep_vectors(moves.tile, layout, mapping) && swizzle_keeps_vectors(layout, mapping);
}

ThreadMapping register_transposed(const ThreadMapping& mapping) {
  if (mapping.rows == 1) return mapping;
  const auto &first = mapping.digits[0], &second = mapping.digits[1];
  ThreadMapping other{
      {second, {first.index, mapping.vector, first.step}}, mapping.rows, mapping.workers, mapping.vector};
  if (first.count > mapping.vector) {
    other.digits.push_back({first.index, first.count / mapping.vector, first.step * mapping.vector});
  }
  other.digits.insert(other.digits.end(), mapping.digits.begin() + 2, mapping.digits.end());
  return other;
}

std::string summary(const Moves& moves, const ir::Program& program) {
  const auto out = program.buffers[static_cast<std::size_t>(program.statement().buffer)].type;
  const auto written = moves.mapping.vector * size_of(out);
  const auto tiles = moves.tiles(program);
  if (!moves.stage) return fmt::format("accesses of {} B, {} tiles", written, tiles);
  const auto& stage = *moves.stage;
  const auto read = stage.mapping.vector * size_of(program.nodes[static_cast<std::size_t>(stage.load)].type);
  auto text = fmt::format("reads of {} B, writes of {} B, ", read, written);
  if (const auto bytes = moves.shared_bytes(program); bytes > 0)
    text += fmt::format("{} B shared{}, ", bytes, stage.layout.mask != 0 ? ", swizzled" : "");
  return text + fmt::format("{} tiles", tiles);
}

}  // namespace ricci::kernel
