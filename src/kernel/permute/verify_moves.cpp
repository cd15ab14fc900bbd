// The rules between directives of what moves elements.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "kernel/kernel.hpp"
#include "kernel/permute/cpu_stage.hpp"
#include "kernel/permute/moves.hpp"
#include "kernel/permute/register_stage.hpp"
#include "kernel/verifier.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

/// directive: what the rule is said of
void require(bool holds, const char* directive, const char* rule) {
  if (!holds) throw PlanError(fmt::format("schedule: {}: {}", directive, rule));
}

/// `directive`: that the mapping stands in.
void verify_mapping(const char* directive, const ir::Program& program, const ThreadMapping& mapping,
                    const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> covered(program.indices.size(), 1);
  for (const auto& digit : mapping.digits) {
    require(digit.index >= 0 && digit.index < static_cast<int>(program.indices.size()), directive,
            "a digit belongs to an index");
    auto& span = covered[static_cast<std::size_t>(digit.index)];
    require(digit.step == span, directive, "digits of one index follow each other without gaps");
    span *= digit.count;
  }
  require(covered == extents, directive, "a mapping covers its tile");
  // CPU kernels handle edges separately; on a GPU no vector crosses the end of a tile.
  const auto& digits = mapping.digits;
  const bool cut = mapping.vector > 1 && mapping.workers > 1;
  require(!cut || (!digits.empty() && digits[0].step == 1 && digits[0].count % mapping.vector == 0), directive,
          "a vector divides the first digit");
  require(mapping.rows <= 1 || (digits.size() > 1 && digits[1].step == 1 && digits[1].count == mapping.rows), directive,
          "the rows of a rectangle are the second digit");
  require(mapping.workers >= 1, directive, "a mapping has workers");
}

/// Blocks that a CPU kernel transposes while it fills an array.
void verify_kept_blocks(const Moves& moves, const ir::Program& program) {
  const auto& stage = *moves.stage;
  const auto& from = program.nodes[static_cast<std::size_t>(stage.load)].offset.coefficient;
  std::vector<bool> taken(program.indices.size());
  const auto neighbours = [&](const std::vector<MixedRadixDigit>& digits, int count,
                              std::span<const std::int64_t> stride) {
    if (count < 1 || count > static_cast<int>(digits.size())) return false;
    std::int64_t run = 1;
    for (int k = 0; k < count; ++k) {
      const auto& digit = digits[static_cast<std::size_t>(k)];
      const auto q = static_cast<std::size_t>(digit.index);
      if (taken[q] || stride[q] != run || digit.count != moves.tile[q]) return false;
      taken[q] = true;
      run *= digit.count;
    }
    return true;
  };
  require(neighbours(stage.mapping.digits, stage.along, from), "stage",
          "a block is read along neighbours in the input");
  require(neighbours(moves.mapping.digits, stage.across, stage.layout.stride), "layout",
          "a block is kept across neighbours in the array");
  require(transpose_block(moves).along >= stage.mapping.vector, "stage",
          "a block fits into the extents of its indices");
  require(is_power_of_two(stage.mapping.vector), "stage", "a block has a power of two of columns");
  require(is_power_of_two(stage.row_packing), "stage", "a vector holds parts of a power of two of rows");
}

/// Line carry.
void verify_line_carry(const Moves& moves, const ir::Program& program) {
  const auto& stage = *moves.stage;
  const auto& value = program.nodes[static_cast<std::size_t>(program.statement().value)];
  require(moves.streaming && stage.memory == StageMemory::shared && value.kind == ir::NodeKind::load, "carry",
          "a line carry copies from an array by nontemporal stores");
  const auto carry = line_carry_of(program, moves);
  require(carry.index == stage.line_carry, "carry",
          "a line carry runs along an index whose next tile continues the runs");
  require(moves.tile_points() / carry.runs * size_of(value.type) >= kLineBytes, "carry",
          "runs with a line carry are no shorter than a line");
}

/// CPU copy kernels: blocks transposed in registers, tiles staged in an array, nontemporal stores.
void verify_blocks(const Moves& moves, const ir::Program& program) {
  if (moves.mapping.workers > 1 || (!moves.stage && !moves.streaming)) return;
  const auto& digits = moves.mapping.digits;
  const auto contiguous = [&](const ir::Affine& affine, int q) {
    return affine.coefficient[static_cast<std::size_t>(q)] == 1;
  };
  const auto& statement = program.statement();
  const bool blocks = moves.stage && moves.stage->memory == StageMemory::registers;
  require(!(blocks || moves.streaming) || (!digits.empty() && contiguous(statement.offset, digits[0].index)), "write",
          "vectors of a CPU lie along the output's contiguous index");
  if (!moves.stage) return;
  const auto& stage = *moves.stage;
  const auto& read = stage.mapping.digits;
  require(stage.prefetch_distance == 0 || (stage.prefetch_distance > 0 && moves.streaming), "prefetch",
          "a prefetch distance needs nontemporal stores");
  if (stage.line_carry >= 0) verify_line_carry(moves, program);
  if (!blocks) {
    const bool adds = program.find_load(statement.buffer) >= 0;
    for (std::size_t q = 0; q < program.indices.size(); ++q)
      require(!adds || program.indices[q].extent % moves.tile[q] == 0, "tile", "tiles that overlap add to nothing");
    if (stage.mapping.vector > 1) verify_kept_blocks(moves, program);
    return;
  }
  const auto& load = program.nodes[static_cast<std::size_t>(stage.load)];
  require(!read.empty() && read[0].index != digits[0].index && contiguous(load.offset, read[0].index), "stage",
          "a block is read along the input's contiguous index");
  for (const auto index : {read[0].index, digits[0].index})
    require(program.indices[static_cast<std::size_t>(index)].extent >= stage.mapping.vector, "stage",
            "a block fits into the extents of its indices");
  require(stage.mapping.vector == moves.mapping.vector, "stage", "a block is square");
  for (const auto& digit : digits) {
    const bool inside = digit.index == read[0].index || digit.index == digits[0].index;
    require(!inside || digit.step == 1 || digit.step % moves.mapping.vector == 0, "write", "digits do not cut blocks");
  }
}

/// The operand that waits, and where.
void verify_stage(const Moves& moves, const ir::Program& program) {
  const auto& stage = *moves.stage;
  require(stage.load >= 0 && stage.load < static_cast<int>(program.nodes.size()) &&
              program.nodes[static_cast<std::size_t>(stage.load)].kind == ir::NodeKind::load,
          "stage", "a stage belongs to a load");
  auto staged = moves.tile;
  const auto& skew = moves.skew;
  if (skew.on()) {
    require(skew.index < static_cast<int>(staged.size()), "skew", "a skew belongs to an index");
    auto& extent = staged[static_cast<std::size_t>(skew.index)];
    require(is_power_of_two(skew.elements) && extent % skew.elements == 0, "skew",
            "a skew is a power of two that divides the tile");
    require(program.statement().offset.coefficient[static_cast<std::size_t>(skew.index)] == 1, "skew",
            "a skew runs along the output's contiguous index");
    require(stage.memory == StageMemory::shared, "skew", "a skewed tile waits in shared memory");
    require(program.nodes.size() == 1, "skew", "a skewed tile is moved as it is");
    extent += skew.elements - 1;
  }
  verify_mapping("stage", program, stage.mapping, staged);
  require(stage.mapping.workers == moves.mapping.workers, "write", "a stage uses the statement's workers");
  require(stage.mapping.rows <= 1 || stage.memory == StageMemory::shared, "stage", "rectangles wait in shared memory");
  if (stage.memory == StageMemory::registers) return verify_register_stage(moves, program);
  const auto& layout = stage.layout;
  require(layout.stride.size() == staged.size(), "layout", "shared memory has a stride per index");
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // strides and extents
  for (std::size_t q = 0; q < staged.size(); ++q) axes.emplace_back(layout.stride[q], staged[q]);
  std::sort(axes.begin(), axes.end());
  std::int64_t last = 0;
  for (const auto& [stride, extent] : axes) {
    require(stride > last || extent == 1, "layout", "points of a tile lie apart in shared memory");
    last += stride * (extent - 1);
  }
  const Swizzle swizzle{layout.shift, layout.mask, layout.unit};
  require(swizzle.is_bijection(), "layout", "a swizzle is a bijection");
  last = (last / swizzle.group() + 1) * swizzle.group() - 1;
  require(layout.elements > last, "layout", "shared memory holds the tile");
  require(stage.mapping.rows <= 1 ||
              (!skew.on() && stage.mapping.rows == moves.mapping.vector &&
               stage.mapping.digits[1].index == moves.mapping.digits[0].index && keeps_vectors(moves, moves.mapping)),
          "stage", "a rectangle's rows are the statement's vectors, side by side in shared memory");
}

}  // namespace

void verify(const Moves& moves, const ir::Program& program) {
  const auto count = program.indices.size();
  require(moves.tile.size() == count && moves.order.size() == count, "tile",
          "a tile has an extent and a place in the order per index");
  auto order = moves.order;
  std::sort(order.begin(), order.end());
  for (std::size_t q = 0; q < count; ++q) {
    require(order[q] == static_cast<int>(q), "order", "the order names every index once");
    require(moves.tile[q] >= 1 && moves.tile[q] <= std::max<std::int64_t>(program.indices[q].extent, 1), "tile",
            "a tile lies between 1 and the extent");
  }
  verify_mapping("write", program, moves.mapping, moves.tile);
  require(moves.mapping.rows <= 1, "write", "only a stage has rectangles");
  require(moves.threads % moves.mapping.workers == 0, "threads", "tiles share a block's threads evenly");
  require(moves.stage || !moves.skew.on(), "skew", "a skewed tile waits in shared memory");
  if (moves.stage) verify_stage(moves, program);
  verify_blocks(moves, program);
}

}  // namespace ricci::kernel
