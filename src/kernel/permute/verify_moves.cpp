// The rules between directives of what moves elements.
#include <fmt/format.h>

#include <algorithm>

#include "kernel/kernel.hpp"
#include "kernel/permute/cpu_stage.hpp"
#include "kernel/permute/moves.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

[[noreturn]] void broken(const char* directive, const std::string& rule) {
  throw PlanError(fmt::format("schedule: {}: {}", directive, rule));
}

/// `directive`: that the mapping stands in.
void verify_mapping(const char* directive, const ir::Program& program, const ThreadMapping& mapping,
                    const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> covered(program.indices.size(), 1);
  for (const auto& digit : mapping.digits) {
    if (digit.index < 0 || digit.index >= static_cast<int>(program.indices.size())) {
      broken(directive, "a digit belongs to an index");
    }
    auto& span = covered[static_cast<std::size_t>(digit.index)];
    if (digit.step != span) broken(directive, "digits of one index follow each other without gaps");
    span *= digit.count;
  }
  if (covered != extents) broken(directive, "a mapping covers its tile");
  // CPU kernels handle edges separately; on a GPU no vector crosses the end of a tile.
  if (mapping.vector > 1 && mapping.workers > 1) {
    if (mapping.digits.empty() || mapping.digits[0].step != 1 || mapping.digits[0].count % mapping.vector != 0) {
      broken(directive, "a vector divides the first digit");
    }
  }
  if (mapping.rows > 1 &&
      (mapping.digits.size() < 2 || mapping.digits[1].step != 1 || mapping.digits[1].count != mapping.rows)) {
    broken(directive, "the rows of a rectangle are the second digit");
  }
  if (mapping.workers < 1) broken(directive, "a mapping has workers");
}

/// Blocks that a CPU kernel transposes while it fills an array.
void verify_kept_blocks(const Moves& moves, const ir::Program& program) {
  const auto& stage = *moves.stage;
  const auto& from = program.nodes[static_cast<std::size_t>(stage.load)].offset.coefficient;
  std::vector<bool> taken(program.indices.size());
  const auto neighbours = [&](const std::vector<MixedRadixDigit>& digits, int count,
                              const std::vector<std::int64_t>& stride) {
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
  if (!neighbours(stage.mapping.digits, stage.along, from)) {
    broken("stage", "a block is read along neighbours in the input");
  }
  if (!neighbours(moves.mapping.digits, stage.across, stage.layout.stride)) {
    broken("layout", "a block is kept across neighbours in the array");
  }
  if (transpose_block(moves).along < stage.mapping.vector) {
    broken("stage", "a block fits into the extents of its indices");
  }
  if ((stage.mapping.vector & (stage.mapping.vector - 1)) != 0) {
    broken("stage", "a block has a power of two of columns");
  }
  if (stage.row_packing < 1 || (stage.row_packing & (stage.row_packing - 1)) != 0) {
    broken("stage", "a vector holds parts of a power of two of rows");
  }
}

/// Line carry.
void verify_line_carry(const Moves& moves, const ir::Program& program) {
  const auto& stage = *moves.stage;
  const auto& value = program.nodes[static_cast<std::size_t>(program.statement().value)];
  if (!moves.streaming || stage.memory != StageMemory::shared || value.kind != ir::NodeKind::load) {
    broken("carry", "a line carry copies from an array by nontemporal stores");
  }
  const auto carry = line_carry_of(program, moves);
  if (carry.index != stage.line_carry) {
    broken("carry", "a line carry runs along an index whose next tile continues the runs");
  }
  if (moves.tile_points() / carry.runs * size_of(value.type) < kLineBytes) {
    broken("carry", "runs with a line carry are no shorter than a line");
  }
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
  if ((blocks || moves.streaming) && (digits.empty() || !contiguous(statement.offset, digits[0].index))) {
    broken("write", "vectors of a CPU lie along the output's contiguous index");
  }
  if (!moves.stage) return;
  const auto& stage = *moves.stage;
  const auto& read = stage.mapping.digits;
  if (stage.prefetch_distance < 0 || (stage.prefetch_distance > 0 && !moves.streaming)) {
    broken("prefetch", "a prefetch distance needs nontemporal stores");
  }
  if (stage.line_carry >= 0) verify_line_carry(moves, program);
  if (!blocks) {
    for (std::size_t q = 0; q < program.indices.size(); ++q) {
      const bool adds = std::any_of(program.nodes.begin(), program.nodes.end(), [&](const ir::Node& node) {
        return node.kind == ir::NodeKind::load && node.source == statement.buffer;
      });
      if (adds && program.indices[q].extent % moves.tile[q] != 0) {
        broken("tile", "tiles that overlap add to nothing");
      }
    }
    if (stage.mapping.vector == 1) return;
  }
  const auto& load = program.nodes[static_cast<std::size_t>(stage.load)];
  if (!blocks) return verify_kept_blocks(moves, program);
  if (read.empty() || digits.empty() || read[0].index == digits[0].index || !contiguous(load.offset, read[0].index)) {
    broken("stage", "a block is read along the input's contiguous index");
  }
  for (const auto index : {read[0].index, digits[0].index}) {
    if (program.indices[static_cast<std::size_t>(index)].extent < stage.mapping.vector) {
      broken("stage", "a block fits into the extents of its indices");
    }
  }
  if (stage.mapping.vector != moves.mapping.vector) broken("stage", "a block is square");
  for (const auto& digit : digits) {
    const bool inside = digit.index == read[0].index || digit.index == digits[0].index;
    if (inside && digit.step != 1 && digit.step % moves.mapping.vector != 0) {
      broken("write", "digits do not cut blocks");
    }
  }
}

}  // namespace

void verify(const Moves& moves, const ir::Program& program) {
  const auto count = program.indices.size();
  if (moves.tile.size() != count || moves.order.size() != count) {
    broken("tile", "a tile has an extent and a place in the order per index");
  }
  auto order = moves.order;
  std::sort(order.begin(), order.end());
  for (std::size_t q = 0; q < count; ++q) {
    if (order[q] != static_cast<int>(q)) broken("order", "the order names every index once");
    if (moves.tile[q] < 1 || moves.tile[q] > std::max<std::int64_t>(program.indices[q].extent, 1)) {
      broken("tile", "a tile lies between 1 and the extent");
    }
  }
  verify_mapping("write", program, moves.mapping, moves.tile);
  if (moves.mapping.rows > 1) broken("write", "only a stage has rectangles");
  if (moves.threads % moves.mapping.workers != 0) broken("threads", "tiles share a block's threads evenly");
  if (!moves.stage) {
    verify_blocks(moves, program);
    if (moves.skew.on()) broken("skew", "a skewed tile waits in shared memory");
    return;
  }
  const auto& stage = *moves.stage;
  if (stage.load < 0 || stage.load >= static_cast<int>(program.nodes.size()) ||
      program.nodes[static_cast<std::size_t>(stage.load)].kind != ir::NodeKind::load) {
    broken("stage", "a stage belongs to a load");
  }
  auto staged = moves.tile;
  const auto& skew = moves.skew;
  if (skew.on()) {
    if (skew.index >= static_cast<int>(count)) broken("skew", "a skew belongs to an index");
    auto& extent = staged[static_cast<std::size_t>(skew.index)];
    const bool power = skew.elements > 0 && (skew.elements & (skew.elements - 1)) == 0;
    if (!power || extent % skew.elements != 0) broken("skew", "a skew is a power of two that divides the tile");
    if (program.statement().offset.coefficient[static_cast<std::size_t>(skew.index)] != 1) {
      broken("skew", "a skew runs along the output's contiguous index");
    }
    if (stage.memory != StageMemory::shared) broken("skew", "a skewed tile waits in shared memory");
    if (program.nodes.size() > 1) broken("skew", "a skewed tile is moved as it is");
    extent += skew.elements - 1;
  }
  verify_mapping("stage", program, stage.mapping, staged);
  if (stage.mapping.workers != moves.mapping.workers) broken("write", "a stage uses the statement's workers");
  if (stage.memory != StageMemory::shared) {
    if (stage.mapping.rows > 1) broken("stage", "rectangles wait in shared memory");
    verify_blocks(moves, program);
    return;
  }
  const auto& layout = stage.layout;
  if (layout.stride.size() != count) broken("layout", "shared memory has a stride per index");
  std::vector<std::size_t> axes;
  for (std::size_t q = 0; q < count; ++q) {
    if (staged[q] > 1) axes.push_back(q);
  }
  std::sort(axes.begin(), axes.end(), [&](auto p, auto q) { return layout.stride[p] < layout.stride[q]; });
  std::int64_t last = 0;
  for (const auto q : axes) {
    if (layout.stride[q] <= last) broken("layout", "points of a tile lie apart in shared memory");
    last += layout.stride[q] * (staged[q] - 1);
  }
  const Swizzle swizzle{layout.shift, layout.mask, layout.unit};
  if (!swizzle.is_bijection()) broken("layout", "a swizzle is a bijection");
  last = (last / swizzle.group() + 1) * swizzle.group() - 1;
  if (layout.elements <= last) broken("layout", "shared memory holds the tile");
  if (stage.mapping.rows > 1 &&
      (skew.on() || stage.mapping.rows != moves.mapping.vector ||
       stage.mapping.digits[1].index != moves.mapping.digits[0].index || !keeps_vectors(moves, moves.mapping))) {
    broken("stage", "a rectangle's rows are the statement's vectors, side by side in shared memory");
  }
  verify_blocks(moves, program);
}

}  // namespace ricci::kernel
