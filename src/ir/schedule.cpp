#include "ir/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ricci/error.hpp"

namespace ricci::ir {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

[[noreturn]] void broken(const char* directive, const std::string& rule) {
  throw PlanError(fmt::format("schedule: {}: {}", directive, rule));
}

/// `directive`: that the mapping stands in.
void verify_mapping(const char* directive, const Program& program, const ThreadMapping& mapping,
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
void verify_kept_blocks(const Schedule& schedule, const Program& program) {
  const auto& stage = *schedule.stage;
  const auto& from = program.nodes[static_cast<std::size_t>(stage.load)].offset.coefficient;
  std::vector<bool> taken(program.indices.size());
  const auto neighbours = [&](const std::vector<MixedRadixDigit>& digits, int count,
                              const std::vector<std::int64_t>& stride) {
    if (count < 1 || count > static_cast<int>(digits.size())) return false;
    std::int64_t run = 1;
    for (int k = 0; k < count; ++k) {
      const auto& digit = digits[static_cast<std::size_t>(k)];
      const auto q = static_cast<std::size_t>(digit.index);
      if (taken[q] || stride[q] != run || digit.count != schedule.tile[q]) return false;
      taken[q] = true;
      run *= digit.count;
    }
    return true;
  };
  if (!neighbours(stage.mapping.digits, stage.along, from)) {
    broken("stage", "a block is read along neighbours in the input");
  }
  if (!neighbours(schedule.mapping.digits, stage.across, stage.layout.stride)) {
    broken("layout", "a block is kept across neighbours in the array");
  }
  if (transpose_block(schedule).along < stage.mapping.vector) {
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
void verify_line_carry(const Schedule& schedule, const Program& program) {
  const auto& stage = *schedule.stage;
  const auto& value = program.nodes[static_cast<std::size_t>(program.statement().value)];
  if (!schedule.streaming || stage.memory != StageMemory::shared || value.kind != NodeKind::load) {
    broken("carry", "a line carry copies from an array by nontemporal stores");
  }
  const auto carry = line_carry_of(program, schedule);
  if (carry.index != stage.line_carry) {
    broken("carry", "a line carry runs along an index whose next tile continues the runs");
  }
  if (schedule.tile_points() / carry.runs * size_of(value.type) < kLineBytes) {
    broken("carry", "runs with a line carry are no shorter than a line");
  }
}

/// CPU copy kernels: blocks transposed in registers, tiles staged in an array, nontemporal stores.
void verify_blocks(const Schedule& schedule, const Program& program) {
  if (schedule.mapping.workers > 1 || (!schedule.stage && !schedule.streaming)) return;
  const auto& digits = schedule.mapping.digits;
  const auto contiguous = [&](const Affine& affine, int q) {
    return affine.coefficient[static_cast<std::size_t>(q)] == 1;
  };
  const auto& statement = program.statement();
  const bool blocks = schedule.stage && schedule.stage->memory == StageMemory::registers;
  if ((blocks || schedule.streaming) && (digits.empty() || !contiguous(statement.offset, digits[0].index))) {
    broken("write", "vectors of a CPU lie along the output's contiguous index");
  }
  if (!schedule.stage) return;
  const auto& stage = *schedule.stage;
  const auto& read = stage.mapping.digits;
  if (stage.prefetch_distance < 0 || (stage.prefetch_distance > 0 && !schedule.streaming)) {
    broken("prefetch", "a prefetch distance needs nontemporal stores");
  }
  if (stage.line_carry >= 0) verify_line_carry(schedule, program);
  if (!blocks) {
    for (std::size_t q = 0; q < program.indices.size(); ++q) {
      const bool adds = std::any_of(program.nodes.begin(), program.nodes.end(), [&](const Node& node) {
        return node.kind == NodeKind::load && node.source == statement.buffer;
      });
      if (adds && program.indices[q].extent % schedule.tile[q] != 0) {
        broken("tile", "tiles that overlap add to nothing");
      }
    }
    if (stage.mapping.vector == 1) return;
  }
  const auto& load = program.nodes[static_cast<std::size_t>(stage.load)];
  if (!blocks) return verify_kept_blocks(schedule, program);
  if (read.empty() || digits.empty() || read[0].index == digits[0].index || !contiguous(load.offset, read[0].index)) {
    broken("stage", "a block is read along the input's contiguous index");
  }
  for (const auto index : {read[0].index, digits[0].index}) {
    if (program.indices[static_cast<std::size_t>(index)].extent < stage.mapping.vector) {
      broken("stage", "a block fits into the extents of its indices");
    }
  }
  if (stage.mapping.vector != schedule.mapping.vector) broken("stage", "a block is square");
  for (const auto& digit : digits) {
    const bool inside = digit.index == read[0].index || digit.index == digits[0].index;
    if (inside && digit.step != 1 && digit.step % schedule.mapping.vector != 0) {
      broken("write", "digits do not cut blocks");
    }
  }
}

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

std::int64_t Schedule::tiles(const Program& program) const noexcept {
  std::int64_t product = 1;
  for (int q = 0; q < static_cast<int>(tile.size()); ++q) product *= tiles_along(program, q);
  return product;
}

std::int64_t Schedule::tiles_along(const Program& program, int q) const noexcept {
  const auto lead = q == skew.index ? skew.elements - 1 : 0;
  return ceil_div(program.indices[static_cast<std::size_t>(q)].extent + lead, tile[static_cast<std::size_t>(q)]);
}

std::int64_t Schedule::tile_points() const noexcept {
  std::int64_t product = 1;
  for (const auto extent : tile) product *= extent;
  return product;
}

int Schedule::tiles_per_block() const noexcept { return threads / mapping.workers; }

std::int64_t Schedule::blocks(const Program& program) const noexcept {
  return ceil_div(tiles(program), tiles_per_block());
}

std::int64_t Schedule::shared_bytes(const Program& program) const noexcept {
  if (!stage || stage->memory != StageMemory::shared) return 0;
  return stage->layout.elements * size_of(program.nodes[static_cast<std::size_t>(stage->load)].type);
}

LineCarry line_carry_of(const Program& program, const Schedule& schedule) {
  const auto& to = program.statement().offset.coefficient;
  const auto& kept = schedule.stage->layout.stride;
  const auto length = run_of(
                          schedule.mapping, [&](int q) { return to[static_cast<std::size_t>(q)]; },
                          [&](int q) { return kept[static_cast<std::size_t>(q)]; })
                          .second;
  LineCarry carry;
  carry.runs = schedule.tile_points() / length;
  for (const auto q : schedule.order) {
    const auto tiles = schedule.tiles_along(program, q);
    const auto tile = schedule.tile[static_cast<std::size_t>(q)];
    if (tiles > 1 && to[static_cast<std::size_t>(q)] * tile == length) {
      carry.index = q;
      carry.tiles = program.indices[static_cast<std::size_t>(q)].extent / tile;
      return carry;
    }
    carry.apart *= tiles;
  }
  return carry;
}

StageArrays stage_arrays(const Program& program, const Schedule& schedule) {
  StageArrays kept;
  if (!schedule.stage || schedule.stage->memory != StageMemory::shared) return kept;
  const auto& stage = *schedule.stage;
  const auto size = size_of(program.nodes[static_cast<std::size_t>(stage.load)].type);
  const auto line = std::max<std::int64_t>(kLineBytes / size, 1);
  const auto whole_lines = [&](std::int64_t elements) { return (elements + line - 1) / line * line; };
  kept.arrays = stage.prefetch_distance > 0 ? 2 : 1;
  // Storing part of a line reads a whole line of the array.
  kept.elements = whole_lines(stage.layout.elements) + (schedule.streaming ? line : 0);
  if (stage.line_carry >= 0) {
    kept.before = line;
    kept.elements += line;
    const auto carry = line_carry_of(program, schedule);
    kept.carried = carry.apart * carry.runs * line;
  }
  kept.bytes = (kept.arrays * kept.elements + kept.carried) * size;
  return kept;
}

TransposeBlock transpose_block(const Schedule& schedule) {
  constexpr int kMostRows = 16;  // limited by the registers that a transpose needs besides
  const auto& stage = *schedule.stage;
  TransposeBlock block;
  for (int k = 0; k < stage.along; ++k) block.along *= stage.mapping.digits[static_cast<std::size_t>(k)].count;
  for (int k = 0; k < stage.across; ++k) block.across *= schedule.mapping.digits[static_cast<std::size_t>(k)].count;
  block.columns = stage.mapping.vector;
  block.row_packing = stage.row_packing;
  const int vectors = std::min(block.columns, kMostRows);
  block.rows = static_cast<int>(std::min<std::int64_t>(std::int64_t{block.row_packing} * vectors, block.across));
  if (block.row_packing > 1) block.piece = block.row_packing * vectors;
  while (block.piece < block.rows) block.piece *= 2;
  return block;
}

bool vector_access(const Program& program, int buffer, const Affine& affine, int index, int vector) noexcept {
  if (vector == 1) return true;
  const auto& target = program.buffers[static_cast<std::size_t>(buffer)];
  const auto q = static_cast<std::size_t>(index);
  if (affine.coefficient[q] != 1 || program.indices[q].extent % vector != 0) return false;
  if (target.alignment % (vector * size_of(target.type)) != 0 || affine.constant % vector != 0) return false;
  for (std::size_t p = 0; p < affine.coefficient.size(); ++p) {
    if (p != q && affine.coefficient[p] % vector != 0) return false;
  }
  return true;
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

bool keeps_vectors(const Schedule& schedule, const ThreadMapping& mapping) noexcept {
  const auto& layout = schedule.stage->layout;
  return strides_keep_vectors(schedule.tile, layout, mapping) && swizzle_keeps_vectors(layout, mapping);
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

bool has_lanes(const Program& program) {
  const auto type = program.buffers.empty() ? DType::i8 : program.buffers.front().type;
  if (!is_real(type) && !is_integer(type)) return false;
  return std::all_of(program.nodes.begin(), program.nodes.end(), [&](const Node& node) {
    if (node.type != type || (is_integer(type) && node.kind != NodeKind::load)) return false;
    switch (node.kind) {
      case NodeKind::load:
      case NodeKind::param:
      case NodeKind::constant:
        return true;
      case NodeKind::reduce:
        return node.op == OpCode::add || node.op == OpCode::mul;
      case NodeKind::op:
        return is_arithmetic(node.op) || node.op == OpCode::sqrt || node.op == OpCode::rsqrt ||
               node.op == OpCode::absolute;
      default:
        return false;
    }
  });
}

void verify(const Schedule& schedule, const Program& program) {
  const auto count = program.indices.size();
  if (schedule.tile.size() != count || schedule.order.size() != count) {
    broken("tile", "a tile has an extent and a place in the order per index");
  }
  auto order = schedule.order;
  std::sort(order.begin(), order.end());
  for (std::size_t q = 0; q < count; ++q) {
    if (order[q] != static_cast<int>(q)) broken("order", "the order names every index once");
    if (schedule.tile[q] < 1 || schedule.tile[q] > std::max<std::int64_t>(program.indices[q].extent, 1)) {
      broken("tile", "a tile lies between 1 and the extent");
    }
  }
  verify_mapping("write", program, schedule.mapping, schedule.tile);
  if (schedule.mapping.rows > 1) broken("write", "only a stage has rectangles");
  if (schedule.threads % schedule.mapping.workers != 0) broken("threads", "tiles share a block's threads evenly");
  if (!schedule.stage) {
    verify_blocks(schedule, program);
    if (schedule.skew.on()) broken("skew", "a skewed tile waits in shared memory");
    return;
  }
  const auto& stage = *schedule.stage;
  if (stage.load < 0 || stage.load >= static_cast<int>(program.nodes.size()) ||
      program.nodes[static_cast<std::size_t>(stage.load)].kind != NodeKind::load) {
    broken("stage", "a stage belongs to a load");
  }
  auto staged = schedule.tile;
  const auto& skew = schedule.skew;
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
  if (stage.mapping.workers != schedule.mapping.workers) broken("write", "a stage uses the statement's workers");
  if (stage.memory != StageMemory::shared) {
    if (stage.mapping.rows > 1) broken("stage", "rectangles wait in shared memory");
    verify_blocks(schedule, program);
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
  const auto group = (layout.mask + 1) << layout.unit;
  if (layout.mask != 0) {
    const bool power = (layout.mask & (layout.mask + 1)) == 0;
    if (!power || (std::int64_t{1} << layout.shift) < group) broken("layout", "a swizzle is a bijection");
    last = (last / group + 1) * group - 1;
  }
  if (layout.elements <= last) broken("layout", "shared memory holds the tile");
  if (stage.mapping.rows > 1 && (skew.on() || stage.mapping.rows != schedule.mapping.vector ||
                                 stage.mapping.digits[1].index != schedule.mapping.digits[0].index ||
                                 !keeps_vectors(schedule, schedule.mapping))) {
    broken("stage", "a rectangle's rows are the statement's vectors, side by side in shared memory");
  }
  verify_blocks(schedule, program);
}

}  // namespace ricci::ir
