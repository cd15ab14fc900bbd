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
  CopyEmitter(Writer& w, const Program& program, const Moves& moves) : w_(w), program_(program), moves_(moves) {
    const auto& digits = moves.mapping.digits;
    in_array_ = moves.stage && moves.stage->memory == kernel::StageMemory::shared;
    if (moves.stage) prefetch_ = prefetch_of(program, moves);
    if (in_array_) return;
    if (moves.stage) read_ = moves.stage->mapping.digits[0].index;
    if (moves.stage || moves.streaming) written_ = digits[0].index;
    const auto& statement = program.statement();
    for (const auto id : loads_of(program, statement.value)) adds_ = adds_ || node(id).source == statement.buffer;
    // Loops around large blocks are not unrolled: no faster, and two to five times as long to compile.
    constexpr std::int64_t kLargeBlockBytes = 512;
    const auto vector = moves.mapping.vector;
    large_ = moves.stage && size_of(node(moves.stage->load).type) * vector * vector >= kLargeBlockBytes;
  }

  void emit() {
    if (in_array_) emit_staged_arrays(w_, program_, moves_);
    beside_ = in_array_ && prefetch_.on();
    if (beside_) {
      open_beside();
    } else if (prefetch_.on()) {
      open_prefetch();
    } else {
      w_.open("for (i64 tile = first; tile < last; ++tile) {{");
    }
    emit_origins();
    if (in_array_) {
      emit_staged(w_, program_, moves_);
    } else {
      emit_loops();
    }
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
      if (in_array_ && extent(q) % tile(q) != 0) {
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

  /// The loop over tiles, with a prefetch of the next tile's input.
  void open_prefetch() {
    emit_begin();
    if (prefetch_.tiles > 1) w_.line("Prefetch prefetch(begin(first));");
    w_.open("for (i64 tile = first; tile < last; ++tile) {{");
    emit_next_prefetch("tile");
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
      if (beside_ && id == moves_.stage->load) continue;  // it has its own place
      if (std::find(moved.begin(), moved.end(), node(id).source) != moved.end()) continue;
      moved.push_back(node(id).source);
      move(node(id).source, node(id).offset);
    }
    move(statement.buffer, statement.offset);
    for (int q = 0; q < static_cast<int>(program_.indices.size()); ++q) {
      if (in_array_ || extent(q) % tile(q) == 0) continue;
      const auto left = fmt::format("{} - {}", extent(q), origin_name(program_, moves_, q));
      w_.line("const i64 {}_end = {} < {} ? {} : {};", name(q), left, tile(q), left, tile(q));
    }
  }

  /// The number of values of index q in this tile, as text.
  std::string end(int q) const {
    return extent(q) % tile(q) == 0 ? fmt::format("{}", tile(q)) : fmt::format("{}_end", name(q));
  }

  std::string offset(const ir::Affine& affine) const {
    return affine_text(affine.coefficient, 0, [&](int q) { return tile(q) == 1 ? std::string() : name(q); });
  }

  /// The step of the loop over index q: values that the innermost statement handles at once.
  std::int64_t step_of(int q) const {
    if (q == read_ || q == written_) return moves_.mapping.vector;
    return 1;
  }
  /// Whether a tile's extent along q may be no multiple of the vector.
  bool ragged(int q) const { return extent(q) % tile(q) % step_of(q) != 0 || tile(q) % step_of(q) != 0; }

  void emit_loops() {
    const auto& digits = moves_.mapping.digits;
    if (digits.empty()) return emit_point();
    const bool rows = !moves_.stage && moves_.streaming;
    int opened = 0;
    std::vector<std::string> at(program_.indices.size());  // per index: its innermost loop variable so far
    for (std::size_t k = digits.size(); k-- > 0;) {
      const auto q = digits[k].index;
      auto& place = at[static_cast<std::size_t>(q)];
      const auto width = digits[k].step * digits[k].count;
      const auto inner = std::any_of(digits.begin(), digits.begin() + static_cast<std::ptrdiff_t>(k),
                                     [&](const kernel::MixedRadixDigit& digit) { return digit.index == q; });
      const auto step = std::max(digits[k].step, step_of(q));
      if (rows && k == 0) break;
      if (width <= step) continue;
      const auto& whole = name(q);
      const auto variable = inner ? fmt::format("{}_{}", whole, step) : step_of(q) == 1 ? whole : whole + "_at";
      const auto from = place.empty() ? "0" : place;
      auto to = end(q);
      if (!place.empty()) {
        to = fmt::format("{} + {}", place, width);
        if (extent(q) % tile(q) % width != 0 || tile(q) % width != 0) {
          w_.line("const i64 {}_stop = {} < {} ? {} : {};", variable, to, end(q), to, end(q));
          to = variable + "_stop";
        }
      }
      if (large_) {
        w_.line("#pragma clang loop unroll(disable) vectorize(disable)");
      } else if (k == 0) {
        w_.line("#pragma clang loop vectorize(assume_safety)");
      }
      w_.open("for (i64 {} = {}; {} < {}; {}) {{", variable, from, variable, to,
              step == 1 ? "++" + variable : fmt::format("{} += {}", variable, step));
      place = variable;
      ++opened;
    }
    if (rows) {
      emit_row(written_);
    } else if (moves_.stage) {
      emit_block(at);
    } else {
      emit_point();
    }
    for (int k = 0; k < opened; ++k) w_.close();
  }

  std::string value(const std::function<std::string(NodeId)>& leaf) const {
    return value_text(program_, program_.statement().value, leaf);
  }
  std::string element(NodeId id) const {
    return fmt::format("{}[{}]", buffer(node(id).source).name, offset(node(id).offset));
  }

  void emit_point() {
    const auto& statement = program_.statement();
    w_.line("{}[{}] = {};", buffer(statement.buffer).name, offset(statement.offset),
            value([&](NodeId id) { return element(id); }));
  }

  /// One row along q by nontemporal stores: single elements up to the first aligned vector, then vectors.
  void emit_row(int q) {
    const auto& statement = program_.statement();
    const auto& to = buffer(statement.buffer);
    const auto vector = moves_.mapping.vector;
    const auto& c = name(q);
    const auto points = [&](const std::string& stop) {
      w_.line("#pragma clang loop unroll(disable) vectorize(disable)");
      w_.open("for (; {} < {}; ++{}) {{", c, stop, c);
      emit_point();
      w_.close();
    };
    w_.line("i64 {} = 0;", c);
    const bool aligned = rows_are_aligned(q);
    if (!aligned) {
      w_.line("const i64 before = (-(u64)({} + {}) & {}) / {};", to.name, offset(statement.offset),
              vector * size_of(to.type) - 1, size_of(to.type));
      w_.line("const i64 first = before < {} ? before : {};", end(q), end(q));
      points("first");
    }
    w_.line("#pragma clang loop unroll_count(4) vectorize(disable)");
    w_.open("for (; {} + {} <= {}; {} += {}) {{", c, vector, end(q), c, vector);
    const auto& result = node(statement.value);
    const auto target = fmt::format("{} + {}", to.name, offset(statement.offset));
    if (result.kind == ir::NodeKind::load && result.offset.coefficient[static_cast<std::size_t>(q)] == 1) {
      w_.line("stream({}, *(const out_lanes_in_memory*)({} + {}));", target, buffer(result.source).name,
              offset(result.offset));
    } else {
      w_.line("{} out[{}];", c_type(to.type), vector);
      w_.line("const i64 {}_at = {};", c, c);
      w_.line("#pragma clang loop vectorize(assume_safety)");
      w_.line("for (i64 {} = {}_at; {} < {}_at + {}; ++{}) out[{} - {}_at] = {};", c, c, c, c, vector, c, c, c,
              value([&](NodeId id) { return element(id); }));
      w_.line("stream({}, *(const out_lanes_in_memory*)out);", target);
    }
    w_.close();
    if (!aligned || ragged(q)) points(end(q));
  }

  /// Whether all rows along q have the same alignment in the output, so that all are aligned if one is.
  bool rows_are_aligned(int q) const {
    const auto& affine = program_.statement().offset;
    for (std::size_t p = 0; p < affine.coefficient.size(); ++p) {
      const auto step = affine.coefficient[p] * (static_cast<int>(p) == q ? tile(q) : 1);
      if (step % moves_.mapping.vector != 0 && program_.indices[p].extent > (static_cast<int>(p) == q ? tile(q) : 1)) {
        return false;
      }
    }
    return affine.constant % moves_.mapping.vector == 0;
  }

  std::string shifted(const ir::Affine& affine, int q, int by) const {
    const auto step = affine.coefficient[static_cast<std::size_t>(q)] * by;
    const auto text = offset(affine);
    return step == 0 ? text : fmt::format("{} {} {}", text, step < 0 ? '-' : '+', step < 0 ? -step : step);
  }

  /// A block of vector x vector elements along `written_` (contiguous in the output) and `read_` (contiguous in the
  /// input). At an edge the block starts earlier to be whole, or goes element by element where the statement adds to
  /// the output.
  void emit_block(const std::vector<std::string>& at) {
    const int vector = moves_.mapping.vector;
    const bool edges = ragged(read_) || ragged(written_);
    const auto place = [&](int q) {
      const auto& text = at[static_cast<std::size_t>(q)];
      return text.empty() ? std::string("0") : text;
    };
    if (edges && adds_) {
      w_.open("if ({} + {} > {} || {} + {} > {}) {{", place(read_), vector, end(read_), place(written_), vector,
              end(written_));
      for (const int q : {read_, written_}) {
        w_.line("#pragma clang loop unroll(disable) vectorize(disable)");
        w_.open("for (i64 {} = {}; {} < {} && {} < {} + {}; ++{}) {{", name(q), place(q), name(q), end(q), name(q),
                place(q), vector, name(q));
      }
      emit_point();
      w_.close();
      w_.close();
      w_.line("continue;");
      w_.close();
    }
    for (const int q : {read_, written_}) {
      if (ragged(q) && !adds_) {
        w_.line("const i64 {} = {} + {} <= {} ? {} : {} - {};", name(q), place(q), vector, end(q), place(q), end(q),
                vector);
      } else {
        w_.line("const i64 {} = {};", name(q), place(q));
      }
    }
    emit_whole_block();
    if (!prefetch_.on()) return;
    const auto vectors = static_cast<std::int64_t>(vector) * vector;
    const auto blocks = prefetch_.tiles * ((moves_.tile_points() + vectors - 1) / vectors);
    for (std::int64_t n = 0; n < (prefetch_.lines + blocks - 1) / blocks; ++n) w_.line("prefetch.request();");
  }

  void emit_whole_block() {
    const auto& statement = program_.statement();
    const auto& load = node(moves_.stage->load);
    const int vector = moves_.mapping.vector;
    const auto& from = buffer(load.source).name;
    const auto& to = buffer(statement.buffer).name;
    w_.line("lanes row[{}];", vector);
    for (int v = 0; v < vector; ++v) {
      w_.line("row[{}] = *(const lanes_in_memory*)({} + {});", v, from, shifted(load.offset, written_, v));
    }
    w_.line("transpose(row);");
    if (node(statement.value).kind == ir::NodeKind::load) {
      for (int v = 0; v < vector; ++v) {
        const auto target = fmt::format("{} + {}", to, shifted(statement.offset, read_, v));
        if (moves_.streaming) {
          w_.line("stream({}, row[{}]);", target, v);
        } else {
          w_.line("*(lanes_in_memory*)({}) = row[{}];", target, v);
        }
      }
      return;
    }
    w_.line("#pragma clang loop unroll(full)");
    w_.open("for (int r = 0; r < {}; ++r) {{", vector);
    w_.line("{} in[{}];", c_type(load.type), vector);
    w_.line("*(lanes_in_memory*)in = row[r];");
    const auto step = statement.offset.coefficient[static_cast<std::size_t>(read_)];
    const auto type = c_type(buffer(statement.buffer).type);
    const auto target = fmt::format("{} + ({} + {} * r)", to, offset(statement.offset), step);
    if (moves_.streaming) {
      w_.line("{} out[{}];", type, vector);
    } else {
      w_.line("{}* const out = {};", type, target);
    }
    const auto text = value([&](NodeId id) { return std::string(id == moves_.stage->load ? "in[v]" : "out[v]"); });
    w_.line("#pragma clang loop vectorize(assume_safety)");
    w_.line("for (int v = 0; v < {}; ++v) out[v] = {};", vector, text);
    if (moves_.streaming) w_.line("stream({}, *(const out_lanes_in_memory*)out);", target);
    w_.close();
  }

  Writer& w_;
  const Program& program_;
  const Moves& moves_;
  int read_ = -1, written_ = -1;  // indices of blocks and of rows with nontemporal stores; -1: none
  bool adds_ = false;             // the statement adds to the output
  bool large_ = false;
  bool in_array_ = false;  // the staged load is kept in an array
  bool beside_ = false;    // which is filled while the previous tile is written
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
  const bool in_array = moves.stage && moves.stage->memory == kernel::StageMemory::shared;
  const auto read_vector = moves.stage ? moves.stage->mapping.vector : 1;
  const auto loaded = moves.stage ? program.nodes[static_cast<std::size_t>(moves.stage->load)].type : DType::u8;
  if (read_vector > 1) {
    const auto block =
        in_array ? kernel::transpose_block(moves) : kernel::TransposeBlock{0, 0, read_vector, read_vector, read_vector};
    types("lanes", loaded, block.columns * block.row_packing);
    w.blank();
    Transpose(loaded, block).emit(w);
  }
  if (in_array && !moves.streaming) emit_staged_helpers(w, program, moves);
  if (!moves.streaming) return;
  const auto vector = moves.mapping.vector;
  const auto& statement = program.statement();
  const auto& to = program.buffers[static_cast<std::size_t>(statement.buffer)];
  types("out_lanes", to.type, vector);
  w.blank();
  if (in_array) emit_staged_helpers(w, program, moves);
  if (!in_array && moves.stage) {
    if (const auto prefetch = prefetch_of(program, moves); prefetch.on()) emit_prefetch(w, program, moves, prefetch);
  }
  if (in_array && program.nodes[static_cast<std::size_t>(statement.value)].kind == ir::NodeKind::load) return;
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
