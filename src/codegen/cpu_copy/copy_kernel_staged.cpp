// CPU kernels that copy through an array: a tile is read in the input's order and written in the output's.
//
//   blocks transposed in registers, or rows, or elements -> kept[...] -> contiguous runs of the output
//
// With nontemporal stores there are two arrays: while one tile is written, the next one is read into the other array,
// and the input of the one after that is prefetched.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "codegen/cpu_copy/copy_kernel.hpp"
#include "codegen/cpu_copy/nontemporal.hpp"
#include "codegen/cpu_copy/transpose.hpp"
#include "codegen/expression.hpp"
#include "kernel/permute/cpu_stage.hpp"

namespace ricci::codegen {
namespace {

using ir::NodeId;
using ir::Program;
using kernel::Moves;

class StagedEmitter {
 public:
  StagedEmitter(Writer& w, const Program& program, const Moves& moves)
      : w_(w), program_(program), moves_(moves), stage_(*moves.stage), prefetch_(prefetch_of(program, moves)) {}

  /// Before the loop over tiles: where the arrays lie in the worker's scratch memory.
  void emit_arrays() {
    const auto arrays = kernel::stage_arrays(program_, moves_);
    const auto type = c_type(load().type);
    const auto at = [&](std::int64_t element) {
      return fmt::format("({}*)scratch{}", type, element == 0 ? "" : fmt::format(" + {}", element));
    };
    if (prefetch_.on()) {
      // One pointer to both, so that compilers know that neither is what is read or written outside.
      w_.line("{0} (* __restrict__ const kept)[{1}] = ({0} (*)[{1}])({2});", type, arrays.elements, at(arrays.before));
    } else {
      w_.line("{}* __restrict__ const kept = {};", type, at(arrays.before));
    }
    if (arrays.carried > 0)
      w_.line("{}* __restrict__ const waiting = {};  // carried lines", type, at(arrays.arrays * arrays.elements));
  }

  /// Reading a tile without pipelining.
  void emit_reading() {
    w_.line("// read {} along {}", buffer(load().source).name, name(stage_.mapping.digits.front().index));
    w_.open("{{");
    if (stage_.mapping.vector > 1) {
      emit_blocks();
    } else {
      emit_elements();
    }
    w_.close();
  }

  void emit_writing() {
    w_.line("// write {} along {}", output().name, name(moves_.mapping.digits.front().index));
    emit_runs();
  }

  /// The reader of the next tile, called piece by piece while the current tile is written.
  void emit_tile_reader() {
    const bool blocks = stage_.mapping.vector > 1;
    const auto piece = blocks ? block_piece() : row_piece();
    const auto type = c_type(load().type);
    w_.line("// Reads the next tile into its array, a few {} for each two lines written of the current tile.",
            blocks ? "blocks" : "rows");
    w_.open("struct TileReader {{");
    w_.line("const {}* from;", type);
    w_.line("{}* to;", type);
    w_.line("bool more;  // whether there is a next tile");
    w_.line("const {}* in = from;", type);
    w_.line("{}* out = to;", type);
    w_.line("i64 outer = 0, row_at = 0, column_at = 0, beat = 0;");
    w_.open("inline __attribute__((always_inline)) void one() {{");
    piece.emit();
    w_.close();
    const auto pair = 2 * kLineBytes / size_of(output().type), points = moves_.tile_points();
    const auto beside = pair * piece.all / points;
    w_.open("inline __attribute__((always_inline)) void beside_two_lines() {{");
    if (beside > 0) {
      w_.line("if (!more) return;");
      for (std::int64_t n = 0; n < beside; ++n) w_.line("one();");
    } else {
      w_.line("if (more && ++beat % {} == 0) one();", (points + pair * piece.all - 1) / (pair * piece.all));
    }
    w_.close();
    w_.open("inline __attribute__((always_inline)) void finish() {{");
    w_.line("while (more && outer < {}) one();", piece.outer);
    w_.close();
    w_.close("};");
    w_.blank();
  }

  const Prefetch& prefetch() const { return prefetch_; }

  /// Lines prefetched for each run that a tile writes.
  std::int64_t with_run() const {
    const auto runs = prefetch_.tiles * (moves_.tile_points() / written().second);
    return (prefetch_.lines + runs - 1) / runs;
  }

  /// The number of leading digits that are contiguous in the output and in the array, and the run's length.
  std::pair<std::size_t, std::int64_t> written() const {
    const auto& to = program_.statement().offset.coefficient;
    return run_of(
        moves_.mapping, [&](int q) { return to[static_cast<std::size_t>(q)]; }, [&](int q) { return kept(q); });
  }

 private:
  const ir::Node& load() const { return program_.nodes[static_cast<std::size_t>(stage_.load)]; }
  const ir::Buffer& buffer(int k) const { return program_.buffers[static_cast<std::size_t>(k)]; }
  const ir::Buffer& output() const { return buffer(program_.statement().buffer); }
  std::int64_t tile(int q) const { return moves_.tile[static_cast<std::size_t>(q)]; }
  const std::string& name(int q) const { return program_.indices[static_cast<std::size_t>(q)].name; }
  std::int64_t kept(int q) const { return stage_.layout.stride[static_cast<std::size_t>(q)]; }

  std::string text(const std::vector<std::int64_t>& stride, const std::vector<bool>& varies) const {
    return affine_text(stride, 0, [&](int q) {
      return tile(q) == 1 || !varies[static_cast<std::size_t>(q)] ? std::string() : name(q);
    });
  }
  std::string text(const std::vector<std::int64_t>& stride) const {
    return text(stride, std::vector<bool>(stride.size(), true));
  }

  void open(int q) { w_.open("for (i64 {} = 0; {} < {}; ++{}) {{", name(q), name(q), tile(q), name(q)); }

  /// A copy of one row by a few vectors. A loop over elements would be unrolled before it is vectorised, and stay
  /// scalar.
  void emit_row(const std::string& target, const std::string& source, std::int64_t bytes) {
    constexpr std::int64_t kStraightBytes = 4 * kLineBytes;
    std::int64_t done = 0;
    if (bytes > kStraightBytes) {
      done = bytes / kLineBytes * kLineBytes;
      w_.line("for (i64 i = 0; i < {}; i += {}) __builtin_memcpy_inline((char*)({}) + i, (const char*)({}) + i, {});",
              done, kLineBytes, target, source, kLineBytes);
    }
    if (bytes > done) {
      w_.line("__builtin_memcpy_inline((char*)({}) + {}, (const char*)({}) + {}, {});", target, done, source, done,
              bytes - done);
    }
  }

  /// A copy of contiguous runs, or of single elements, over the first `count` digits; `begin` and `end` are the
  /// addresses in the input and the array that belong to the other digits.
  void emit_elements(std::size_t count, const std::string& begin, const std::string& end) {
    const auto& digits = stage_.mapping.digits;
    const auto& from = load().offset.coefficient;
    auto [runs, length] = run_of(
        stage_.mapping, [&](int q) { return from[static_cast<std::size_t>(q)]; }, [&](int q) { return kept(q); });
    std::vector<bool> varies(program_.indices.size());
    for (std::size_t k = 0; k < count; ++k) varies[static_cast<std::size_t>(digits[k].index)] = true;
    const auto source = fmt::format("{} + {}", begin, text(from, varies));
    const auto target = fmt::format("{} + {}", end, text(stage_.layout.stride, varies));
    for (std::size_t k = 0; k < runs; ++k) w_.line("const i64 {} = 0;", name(digits[k].index));
    for (std::size_t k = count; k-- > runs;) open(digits[k].index);
    if (runs > 0) {
      emit_row(target, source, length * size_of(load().type));
    } else {
      w_.line("*({}) = *({});", target, source);
    }
    for (std::size_t k = count; k-- > runs;) w_.close();
  }
  void emit_elements() { emit_elements(stage_.mapping.digits.size(), buffer(load().source).name, "kept"); }

  /// The unit of reading: how many make up a tile, how many values `outer` takes, and the emitter of one.
  struct Piece {
    std::int64_t all, outer;
    std::function<void()> emit;
  };

  /// One row of the input.
  Piece row_piece() {
    const auto& digits = stage_.mapping.digits;
    const auto& stride = load().offset.coefficient;
    const auto along = [&](int q) { return stride[static_cast<std::size_t>(q)]; };
    const auto leading = run_of(stage_.mapping, along, along).first;
    const auto from = outer("from", "row_in_input", digits, leading, stride);
    const auto to = outer("to", "row_in_kept", digits, leading, stage_.layout.stride);
    const auto rows = static_cast<std::int64_t>(offsets(digits, leading, digits.size(), stride).size());
    return {rows, rows, [=, this] {
              emit_elements(leading, from, to);
              w_.line("++outer;");
            }};
  }

  /// The address for value number `outer` of all digits from `first` on.
  std::string outer(const char* base, const char* table, const std::vector<kernel::MixedRadixDigit>& digits,
                    std::size_t first, const std::vector<std::int64_t>& stride) {
    const auto list = offsets(digits, first, digits.size(), stride);
    if (list.size() == 1) return base;
    w_.line("static const {} {}[] = {{{}}};", table_type(list), table, fmt::join(list, ", "));
    return fmt::format("{} + {}[outer]", base, table);
  }

  /// The offsets along one side of a block: of value number `at` + n, by a literal, a stride or a table.
  class Side {
   public:
    Side(Writer& w, const char* at, const char* table, const std::vector<kernel::MixedRadixDigit>& digits, int count,
         const std::vector<std::int64_t>& stride, std::int64_t per_block)
        : at_(at),
          table_(table),
          per_block_(per_block),
          list_(offsets(digits, 0, static_cast<std::size_t>(count), stride)) {
      literal_ = values() == per_block;
      even_ = list_.size() < 2 || literal_;
      if (!literal_) {
        const auto step = list_[1] - list_[0];
        even_ = true;
        for (std::size_t n = 1; n < list_.size(); ++n) even_ = even_ && list_[n] - list_[n - 1] == step;
      }
      if (!even_) w.line("static const {} {}[] = {{{}}};", table_type(list_), table, fmt::join(list_, ", "));
    }

    std::int64_t values() const { return static_cast<std::int64_t>(list_.size()); }
    void open(Writer& w) const {
      if (literal_) return;
      w.line("#pragma clang loop unroll(disable) vectorize(disable)");
      w.open("for (i64 {}_at = 0; {}_at < {}; {}_at += {}) {{", at_, at_, values(), at_, per_block_);
      place(w);
    }
    /// The last block starts earlier so that it is whole.
    void place(Writer& w) const {
      if (literal_) return;
      const auto last = values() - per_block_;
      if (values() % per_block_ == 0) {
        w.line("const i64 {} = {}_at;", at_, at_);
      } else {
        w.line("const i64 {} = {}_at < {} ? {}_at : {};", at_, at_, last, at_, last);
      }
    }
    void next(Writer& w) const {
      if (literal_) return;
      w.line("if (({}_at += {}) < {}) return;", at_, per_block_, values());
      w.line("{}_at = 0;", at_);
    }
    /// Whether all blocks have the same distance.
    bool even() const { return even_ && values() % per_block_ == 0; }
    std::int64_t first(std::int64_t n) const { return list_[static_cast<std::size_t>(n)]; }
    std::int64_t step() const { return list_.size() < 2 ? 0 : list_[1] - list_[0]; }
    std::int64_t steps() const { return (values() + per_block_ - 1) / per_block_; }
    void close(Writer& w) const {
      if (!literal_) w.close();
    }
    std::string at(std::int64_t n) const {
      if (literal_) return fmt::format("{}", list_[static_cast<std::size_t>(n)]);
      if (!even_) return fmt::format("{}[{} + {}]", table_, at_, n);
      const auto step = list_[1] - list_[0];
      return step == 1 ? fmt::format("({} + {})", at_, n) : fmt::format("({} * {} + {})", step, at_, step * n);
    }

   private:
    const char* at_;
    const char* table_;
    std::int64_t per_block_;  // values per block
    std::vector<std::int64_t> list_;
    bool literal_ = false, even_ = false;
  };

  /// Digits of the input's mapping outside of blocks.
  std::vector<kernel::MixedRadixDigit> outside() const {
    std::vector<bool> inside(program_.indices.size());
    const auto first_digits = [&](const std::vector<kernel::MixedRadixDigit>& of, int count) {
      for (int k = 0; k < count; ++k) inside[static_cast<std::size_t>(of[static_cast<std::size_t>(k)].index)] = true;
    };
    first_digits(stage_.mapping.digits, stage_.along);
    first_digits(moves_.mapping.digits, stage_.across);
    std::vector<kernel::MixedRadixDigit> list;
    for (const auto& digit : stage_.mapping.digits) {
      if (!inside[static_cast<std::size_t>(digit.index)]) list.push_back(digit);
    }
    return list;
  }
  Side columns() {
    return {w_,
            "column",
            "column_in_kept",
            stage_.mapping.digits,
            stage_.along,
            stage_.layout.stride,
            kernel::transpose_block(moves_).columns};
  }
  Side rows() {
    return {w_,
            "row",
            "row_in_input",
            moves_.mapping.digits,
            stage_.across,
            load().offset.coefficient,
            kernel::transpose_block(moves_).rows};
  }

  /// One block from `in` to `out`; `row_at` and `column_at` give the offsets of its rows and columns.
  void emit_block(const std::function<std::string(int)>& row_at, const std::function<std::string(int)>& column_at) {
    const auto block = kernel::transpose_block(moves_);
    const int vectors = block.transposed_vectors();
    w_.line("lanes rows[{}];", vectors);
    for (int v = 0; v < block.vectors(); ++v) {
      std::vector<std::string> parts;
      for (int row = v; row < block.piece; row += vectors) {
        parts.push_back(fmt::format("in + {}", row_at(row < block.rows ? row : v)));  // unused rows repeat a used one
      }
      if (block.row_packing == 1) {
        w_.line("rows[{}] = *(const lanes_in_memory*)({});", v, parts.front());
      } else {
        w_.line("rows[{}] = side_by_side({});", v, fmt::join(parts, ", "));
      }
    }
    w_.line("transpose(rows);");
    const Transpose transpose(load().type, block);
    for (int v = 0; v < block.columns; ++v) {
      w_.line("keep<{}>(out + {}, rows[{}]);", transpose.part_of(v), column_at(v), transpose.vector_of(v));
    }
  }
  void emit_block(const Side& columns, const Side& rows, const std::string& from, const std::string& to) {
    const auto block = kernel::transpose_block(moves_);
    const bool along_moves = block.along != block.columns, across_moves = block.across != block.rows;
    w_.line("const {}* const in = {}{};", c_type(load().type), from, along_moves ? " + column" : "");
    w_.line("{}* const out = {}{};", c_type(load().type), to, across_moves ? " + row" : "");
    emit_block([&](int v) { return rows.at(v); }, [&](int v) { return columns.at(v); });
  }

  void emit_blocks() {
    const auto columns = this->columns(), rows = this->rows();
    const auto digits = outside();
    std::vector<bool> varies(program_.indices.size());
    for (std::size_t k = digits.size(); k-- > 0;) {
      open(digits[k].index);
      varies[static_cast<std::size_t>(digits[k].index)] = true;
    }
    // Rows are the inner loop: they fill a cache line of the array while it is in L1.
    columns.open(w_);
    rows.open(w_);
    emit_block(columns, rows,
               fmt::format("{} + {}", buffer(load().source).name, text(load().offset.coefficient, varies)),
               fmt::format("kept + {}", text(stage_.layout.stride, varies)));
    rows.close(w_);
    columns.close(w_);
    for (std::size_t k = 0; k < digits.size(); ++k) w_.close();
  }

  /// One block as a unit of reading: along the rows first, which hardware prefetchers follow.
  Piece block_piece() {
    const auto columns = this->columns(), rows = this->rows();
    const auto digits = outside();
    const auto from = outer("from", "outer_in_input", digits, 0, load().offset.coefficient);
    const auto to = outer("to", "outer_in_kept", digits, 0, stage_.layout.stride);
    std::int64_t last = 1;
    for (const auto& digit : digits) last *= digit.count;
    return {columns.steps() * rows.steps() * last, last, [=, this] {
              if (columns.even() && rows.even()) return emit_next_block(columns, rows, last, from, to);
              columns.place(w_);
              rows.place(w_);
              emit_block(columns, rows, from, to);
              columns.next(w_);
              rows.next(w_);
              w_.line("++outer;");
            }};
  }

  /// The block at `in`, then an advance to the next one by literal offsets.
  void emit_next_block(const Side& columns, const Side& rows, std::int64_t last, const std::string& from,
                       const std::string& to) {
    const auto block = kernel::transpose_block(moves_);
    emit_block([&](int v) { return fmt::format("{}", rows.first(v)); },
               [&](int v) { return fmt::format("{}", columns.first(v)); });
    if (columns.steps() > 1) {
      w_.line("in += {}, out += {};", block.columns, block.columns * columns.step());
      columns.next(w_);
    }
    const auto back = columns.steps() > 1 ? columns.values() : 0;
    if (rows.steps() > 1) {
      w_.line("in += {}, out += {};", block.rows * rows.step() - back, block.rows - back * columns.step());
      rows.next(w_);
    }
    w_.line("++outer;");
    if (last > 1) w_.line("if (outer < {}) in = {}, out = {};", last, from, to);
  }

  /// Declares whether this tile takes over carried lines and hands on its own; returns the extra arguments of each run.
  std::string emit_line_carry(std::size_t runs) {
    if (stage_.line_carry < 0) return "";
    const auto carry = kernel::line_carry_of(program_, moves_);
    w_.line("const i64 along = {};", tile_numbers(program_, moves_, "tile")[static_cast<std::size_t>(carry.index)]);
    w_.line("const bool begun = along > 0 && along < {} && tile - {} >= first;", carry.tiles, carry.apart);
    w_.line("const bool goes_on = along + 1 < {} && tile + {} < last;", carry.tiles, carry.apart);
    const auto& digits = moves_.mapping.digits;
    std::string run;
    std::int64_t below = 1;
    for (std::size_t k = runs; k < digits.size(); ++k) {
      const auto& digit = name(digits[k].index);
      if (!run.empty()) run += " + ";
      run += below == 1 ? digit : fmt::format("{} * {}", below, digit);
      below *= digits[k].count;
    }
    if (run.empty()) run = "0";
    if (carry.apart > 1) run = fmt::format("tile % {} * {} + {}", carry.apart, carry.runs, run);
    return fmt::format(", waiting + {} * ({}), begun, goes_on", kLineBytes / size_of(load().type), run);
  }

  void emit_runs() {
    const auto& statement = program_.statement();
    const auto& to = statement.offset.coefficient;
    const auto& digits = moves_.mapping.digits;
    const auto [runs, length] = written();
    w_.open("{{");
    const auto carry = emit_line_carry(runs);
    for (std::size_t k = 0; k < runs; ++k) w_.line("const i64 {} = 0;", name(digits[k].index));
    for (std::size_t k = digits.size(); k-- > runs;) open(digits[k].index);
    const auto& value = program_.nodes[static_cast<std::size_t>(statement.value)];
    const auto target = fmt::format("{} + {}", output().name, text(to));
    const auto source = fmt::format("{} + {}", prefetch_.on() ? "kept[tile & 1]" : "kept", text(stage_.layout.stride));
    if (prefetch_.prefetches_ends) w_.line("prefetch_ends({} + next, {});", target, length);
    if (value.kind == ir::NodeKind::load) {
      const auto more =
          moves_.streaming ? fmt::format(", {}{}{}", length, prefetch_.on() ? ", prefetch, reader" : "", carry) : "";
      w_.line("write_run({}, {}{});", target, source, more);
    } else {
      w_.line("{}* const out = {};", c_type(output().type), target);
      w_.line("const {}* const in = {};", c_type(load().type), source);
      const auto result = value_text(program_, statement.value,
                                     [&](NodeId id) { return std::string(id == stage_.load ? "in[i]" : "out[i]"); });
      if (moves_.streaming) {
        const auto vector = moves_.mapping.vector;
        w_.line("const i64 before = (-(u64)out & {}) / {};", vector * size_of(output().type) - 1,
                size_of(output().type));
        w_.line("i64 i = 0;");
        const auto points = [&](const std::string& more) {
          w_.line("#pragma clang loop unroll(disable) vectorize(disable)");
          w_.line("for (; {}i < {}; ++i) out[i] = {};", more, length, result);
        };
        points("i < before && ");
        const auto line = kLineBytes / size_of(output().type);
        w_.open("for (; i + {} <= {}; i += {}) {{", vector, length, vector);
        if (prefetch_.on()) {
          const auto after = [&](std::int64_t elements) {
            return fmt::format("if ((i - before + {}) % {} == 0)", vector, std::max<std::int64_t>(elements, vector));
          };
          w_.line("{} prefetch.request();", after(line));
          w_.line("{} reader.beside_two_lines();", after(2 * line));
        }
        w_.line("{} values[{}];", c_type(output().type), vector);
        w_.line("const i64 at = i;");
        w_.line("#pragma clang loop vectorize(assume_safety)");
        w_.line("for (i64 i = at; i < at + {}; ++i) values[i - at] = {};", vector, result);
        w_.line("stream(out + i, *(const out_lanes_in_memory*)values);");
        w_.close();
        if (prefetch_.on())
          w_.line("for (i64 lines = i / {}; lines < {}; ++lines) prefetch.request();", line, with_run());
        points("");
      } else {
        w_.line("#pragma clang loop vectorize(assume_safety)");
        w_.line("for (i64 i = 0; i < {}; ++i) out[i] = {};", length, result);
      }
    }
    for (std::size_t k = digits.size(); k-- > runs;) w_.close();
    w_.close();
    if (prefetch_.on()) w_.line("reader.finish();");
  }

  Writer& w_;
  const Program& program_;
  const Moves& moves_;
  const kernel::Stage& stage_;
  Prefetch prefetch_;
};

}  // namespace

void emit_staged_arrays(Writer& writer, const Program& program, const Moves& moves) {
  StagedEmitter(writer, program, moves).emit_arrays();
}

void emit_staged(Writer& writer, const Program& program, const Moves& moves) {
  StagedEmitter emitter(writer, program, moves);
  if (!emitter.prefetch().on()) emitter.emit_reading();
  emitter.emit_writing();
}

namespace {

/// The function that loads parts of several rows into one vector.
void emit_side_by_side(Writer& w, DType type, const kernel::TransposeBlock& block) {
  const int part = block.columns * lanes_of(type);
  std::vector<std::string> rows;
  for (int k = 0; k < block.row_packing; ++k) rows.push_back(fmt::format("const {}* row{}", c_type(type), k));
  std::vector<std::string> texts;
  for (int k = 0; k < block.row_packing; ++k) texts.push_back(fmt::format("*(const part_in_memory*)row{}", k));
  for (int width = 2 * part; texts.size() > 1; width *= 2) {
    std::vector<int> both(static_cast<std::size_t>(width));
    std::iota(both.begin(), both.end(), 0);
    for (std::size_t k = 0; k < texts.size() / 2; ++k) {
      texts[k] =
          fmt::format("__builtin_shufflevector({}, {}, {})", texts[2 * k], texts[2 * k + 1], fmt::join(both, ", "));
    }
    texts.resize(texts.size() / 2);
  }
  w.line("typedef {} part __attribute__((ext_vector_type({})));", lane_type(type), part);
  w.line("typedef part part_in_memory __attribute__((aligned({}), may_alias));", size_of(type));
  w.open("static inline __attribute__((always_inline)) lanes side_by_side({}) {{", fmt::join(rows, ", "));
  w.line("return {};", texts.front());
  w.close();
}

/// The function that copies one run of `length` elements by ordinary stores, aligned to cache lines: a store across two
/// lines costs two writes.
void emit_write_kept(Writer& w, const Program& program, std::int64_t length) {
  const auto& to = program.buffers[static_cast<std::size_t>(program.statement().buffer)];
  const auto bytes = length * size_of(to.type);
  const auto copy = [&](const std::string& place, std::int64_t many) {
    w.line("__builtin_memcpy_inline((u8*)to + {}, (const u8*)from + {}, {});", place, place, many);
  };
  w.line("// Ordinary stores. A loop over elements would be unrolled before it is vectorised, and stay scalar.");
  w.open("static inline __attribute__((always_inline)) void write_run({}* to, const {}* from) {{", c_type(to.type),
         c_type(to.type));
  if (bytes <= 2 * kLineBytes) {
    copy("0", bytes);
  } else {
    copy("0", kLineBytes);
    w.line("#pragma clang loop unroll_count(4)");
    w.open("for (i64 at = {} - (i64)((u64)to % {}); at + {} <= {}; at += {}) {{", kLineBytes, kLineBytes, kLineBytes,
           bytes, kLineBytes);
    copy("at", kLineBytes);
    w.close();
    copy(fmt::format("{}", bytes - kLineBytes), kLineBytes);
  }
  w.close();
  w.blank();
}

}  // namespace

void emit_staged_helpers(Writer& w, const Program& program, const Moves& moves) {
  const auto& stage = *moves.stage;
  const auto& load = program.nodes[static_cast<std::size_t>(stage.load)];
  if (stage.mapping.vector > 1) {
    const auto block = kernel::transpose_block(moves);
    const int lanes = lanes_of(load.type);
    std::vector<std::string> parts;
    w.line("typedef {} piece __attribute__((ext_vector_type({})));", lane_type(load.type), block.piece * lanes);
    w.line("typedef piece piece_in_memory __attribute__((aligned({}), may_alias));", size_of(load.type));
    if (block.row_packing > 1) emit_side_by_side(w, load.type, block);
    w.line("// Stores one column of a block: part N of a transposed vector.");
    w.line("template <int N>");
    w.open("static inline __attribute__((always_inline)) void keep({}* to, lanes row) {{", c_type(load.type));
    for (int l = 0; l < block.piece * lanes; ++l) parts.push_back(fmt::format("{} * N + {}", block.piece * lanes, l));
    w.line("const piece kept = __builtin_shufflevector(row, row, {});", fmt::join(parts, ", "));
    if (block.rows == block.piece) {
      w.line("*(piece_in_memory*)to = kept;");
    } else {
      w.line("__builtin_memcpy(to, &kept, {});", block.rows * size_of(load.type));
    }
    w.close();
    w.blank();
  }
  StagedEmitter emitter(w, program, moves);
  const auto& prefetch = emitter.prefetch();
  if (prefetch.on()) {
    emit_prefetch(w, program, moves, prefetch);
    if (prefetch.prefetches_ends) emit_prefetch_ends(w, program);
    emitter.emit_tile_reader();
  }
  if (program.nodes[static_cast<std::size_t>(program.statement().value)].kind != ir::NodeKind::load) return;
  if (moves.streaming) {
    emit_write_run(w, program, moves, prefetch.on() ? emitter.with_run() : 0);
  } else {
    emit_write_kept(w, program, emitter.written().second);
  }
}

}  // namespace ricci::codegen
