#include "codegen/cpu_copy/copy_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/cpu_copy/nontemporal.hpp"
#include "codegen/cpu_copy/transpose.hpp"
#include "codegen/expression.hpp"
#include "kernel/permute/cpu_stage.hpp"

namespace ricci::codegen {

namespace {

using ir::NodeId;
using ir::Program;
using kernel::Moves;

/// The name of a tile's first value of index q ("a0"), or empty when that is always 0. Where a tile holds one value,
/// the origin is the index itself ("a").
std::string origin_name(const Program& program, const Moves& moves, int q) {
  const auto k = static_cast<std::size_t>(q);
  if (moves.tile[k] == program.indices[k].extent) return {};
  return moves.tile[k] == 1 ? program.indices[k].name : program.indices[k].name + "0";
}

/// `number / below % count`, without operations that have no effect.
std::string digit(const char* number, std::int64_t below, std::int64_t count, bool last) {
  std::string text = below == 1 ? number : fmt::format("{} / {}", number, below);
  return last ? text : text + fmt::format(" % {}", count);
}

class CopyEmitter {
 public:
  CopyEmitter(Writer& w, const Program& program, const Moves& moves)
      : w_(w), program_(program), moves_(moves), prefetch_(prefetch_of(program, moves)) {}

  void emit() {
    emit_staged_arrays(w_, program_, moves_);
    if (prefetch_.on()) {
      open_beside();
    } else {
      w_.open("for (i64 tile = first; tile < last; ++tile) {{");
    }
    emit_origins();
    emit_staged(w_, program_, moves_);
    w_.close();
  }

 private:
  const ir::Node& node(NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  const ir::Buffer& buffer(int k) const { return program_.buffers[static_cast<std::size_t>(k)]; }
  std::int64_t tile(int q) const { return moves_.tile[static_cast<std::size_t>(q)]; }
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }
  const std::string& name(int q) const { return program_.indices[static_cast<std::size_t>(q)].name; }

  /// The tile's origin along each index that has several tiles.
  void emit_origin_values() {
    const auto numbers = tile_numbers(program_, moves_, "tile");
    for (const auto q : moves_.order) {
      auto number = numbers[static_cast<std::size_t>(q)];
      if (number.empty()) continue;
      if (tile(q) > 1) number = fmt::format("{} * ({})", tile(q), number);
      const auto origin = origin_name(program_, moves_, q);
      if (extent(q) % tile(q) != 0) {
        // A staged tile is always whole: the last one starts earlier and overlaps its predecessor.
        w_.line("const i64 {}_at = {};", origin, number);
        w_.line("const i64 {} = {}_at < {} ? {}_at : {};", origin, origin, extent(q) - tile(q), origin,
                extent(q) - tile(q));
      } else {
        w_.line("const i64 {} = {};", origin, number);
      }
    }
  }

  std::string begin(const ir::Affine& affine) const {
    return affine_text(affine.coefficient, affine.constant, [&](int q) { return origin_name(program_, moves_, q); });
  }

  /// A lambda that returns the address of a tile's origin in a buffer.
  void emit_begin(const char* function, int k, const ir::Affine& affine) {
    w_.line("// Where a tile begins in {}.", buffer(k).name);
    w_.open("const auto {} = [&](i64 tile) {{", function);
    emit_origin_values();
    w_.line("return {}_base + ({});", buffer(k).name, begin(affine));
    w_.close("};");
  }
  void emit_begin() {
    const auto& load = node(moves_.stage->load);
    emit_begin("begin", load.source, load.offset);
  }

  /// The software-pipelined loop over tiles: one tile is written, the next is read, the one after that prefetched.
  void open_beside() {
    w_.line("if (first >= last) return;");
    emit_begin();
    if (prefetch_.prefetches_ends)
      emit_begin("begin_in_output", program_.statement().buffer, program_.statement().offset);
    if (prefetch_.tiles > 1) w_.line("Prefetch prefetch(begin(first));");
    w_.open("for (i64 tile = first - 1; tile < last; ++tile) {{");
    w_.line("const i64 after = tile + 1 < last ? tile + 1 : last - 1;");
    w_.line("TileReader reader = {{begin(after), kept[(tile + 1) & 1], tile + 1 < last}};");
    w_.open("if (tile < first) {{");
    w_.line("reader.finish();");
    w_.line("continue;");
    w_.close();
    emit_next_prefetch("after");
    if (prefetch_.prefetches_ends) w_.line("const i64 next = begin_in_output(after) - begin_in_output(tile);");
  }

  /// The prefetch for the tiles after those that are read now; `tile` names the number of the tile that is read.
  void emit_next_prefetch(const char* tile) {
    if (prefetch_.tiles == 1) {
      w_.line("Prefetch prefetch(begin({} + 1 < last ? {} + 1 : last - 1));", tile, tile);
      return;
    }
    const auto along = fmt::format("{} % {}", tile, prefetch_.in_row);
    const bool whole = prefetch_.in_row % prefetch_.tiles == 0;
    w_.open("if (const i64 at = {}; at % {} == 0) {{", whole ? tile : along, prefetch_.tiles);
    w_.line("const i64 next = {} + {};", tile,
            whole ? fmt::format("{}", prefetch_.tiles)
                  : fmt::format("(at + {} < {} ? {} : {} - at)", prefetch_.tiles, prefetch_.in_row, prefetch_.tiles,
                                prefetch_.in_row));
    w_.line("prefetch = Prefetch(begin(next < last ? next : last - 1));");
    w_.close();
  }

  void emit_origins() {
    emit_origin_values();
    const auto& statement = program_.statement();
    const auto move = [&](int k, const ir::Affine& affine) {
      const auto& target = buffer(k);
      w_.line("{}{}* __restrict__ const {} = {}_base + ({});", target.written ? "" : "const ", c_type(target.type),
              target.name, target.name, begin(affine));
    };
    std::vector<int> moved{statement.buffer};
    for (const auto id : loads_of(program_, statement.value)) {
      if (prefetch_.on() && id == moves_.stage->load) continue;  // it has its own place
      if (std::find(moved.begin(), moved.end(), node(id).source) != moved.end()) continue;
      moved.push_back(node(id).source);
      move(node(id).source, node(id).offset);
    }
    move(statement.buffer, statement.offset);
  }

  Writer& w_;
  const Program& program_;
  const Moves& moves_;
  Prefetch prefetch_;
};

}  // namespace

std::vector<std::string> tile_numbers(const ir::Program& program, const kernel::Moves& moves, const char* number) {
  std::vector<std::string> text(program.indices.size());
  std::int64_t below = 1;
  const auto total = moves.tiles(program);
  for (const auto q : moves.order) {
    const auto count = moves.tiles_along(program, q);
    if (count == 1) continue;
    text[static_cast<std::size_t>(q)] = digit(number, below, count, below * count == total);
    below *= count;
  }
  return text;
}

void emit_copy_helpers(Writer& w, const Program& program, const Moves& moves) {
  const auto types = [&](const char* name, DType type, int vector) {
    w.line("typedef {} {} __attribute__((ext_vector_type({})));", lane_type(type), name, vector * lanes_of(type));
    w.line("typedef {} {}_in_memory __attribute__((aligned({}), may_alias));", name, name, size_of(type));
  };
  const auto loaded = program.nodes[static_cast<std::size_t>(moves.stage->load)].type;
  if (moves.stage->mapping.vector > 1) {
    const auto block = kernel::transpose_block(moves);
    types("lanes", loaded, block.columns * block.row_packing);
    w.blank();
    Transpose(loaded, block).emit(w);
  }
  if (!moves.streaming) return emit_staged_helpers(w, program, moves);
  const auto vector = moves.mapping.vector;
  const auto& statement = program.statement();
  const auto& to = program.buffers[static_cast<std::size_t>(statement.buffer)];
  types("out_lanes", to.type, vector);
  w.blank();
  emit_staged_helpers(w, program, moves);
  if (program.nodes[static_cast<std::size_t>(statement.value)].kind == ir::NodeKind::load) return;
  w.line("// A nontemporal store where the address is aligned, else an ordinary one.");
  w.open("static inline void stream({}* to, out_lanes value) {{", c_type(to.type));
  w.line("if ((u64)to & {}) *(out_lanes_in_memory*)to = value;", vector * size_of(to.type) - 1);
  w.line("else __builtin_nontemporal_store(value, (out_lanes*)to);");
  w.close();
  w.blank();
}

void emit_copy(Writer& writer, const Program& program, const Moves& moves) {
  CopyEmitter(writer, program, moves).emit();
}

}  // namespace ricci::codegen
