// A tile that waits in an array between being read in the input's order and written in the output's.
//
//   blocks transposed in registers, or rows, or elements -> kept[...] -> runs of neighbours in the output
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/expression.hpp"
#include "codegen/move.hpp"
#include "codegen/walk.hpp"

namespace ricci::codegen {
namespace {

using ir::NodeId;
using ir::Program;
using ir::Schedule;

constexpr std::int64_t kLineBytes = 64;

/// Leading digits of a walk that are one run of neighbours on both of two sides, and its length.
template <class First, class Second>
std::pair<std::size_t, std::int64_t> run_of(const ir::Walk& walk, First first, Second second) {
  std::int64_t length = 1;
  std::size_t k = 0;
  for (; k < walk.digits.size(); ++k) {
    const auto& digit = walk.digits[k];
    if (digit.step != 1 || first(digit.index) != length || second(digit.index) != length) break;
    length *= digit.count;
  }
  return {k, length};
}

/// What the next tile reads, asked for line by line beside the lines that this one writes: neither of the two keeps
/// memory busy by itself, and a tile whose rows are there is read without waiting.
struct Ahead {
  std::vector<std::int64_t> row;  // where each begins, from the tile's first element; empty: nothing is asked for
  std::int64_t length = 1;        // of a row, in elements
  std::int64_t with_run = 0;      // asked for with each run that is written

  bool on() const { return !row.empty(); }
};

/// Values of each digit of a walk from `first` on, fastest first, as sums of `stride` times them.
std::vector<std::int64_t> offsets(const std::vector<ir::Digit>& digits, std::size_t first, std::size_t last,
                                  const std::vector<std::int64_t>& stride) {
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

Ahead ahead_of(const Program& program, const Schedule& schedule) {
  constexpr std::int64_t kMostRows = 2048;
  Ahead ahead;
  const auto& stage = *schedule.stage;
  if (!schedule.streaming) return ahead;
  const auto& load = program.nodes[static_cast<std::size_t>(stage.load)];
  const auto& from = load.offset.coefficient;
  const auto stride = [&](int q) { return from[static_cast<std::size_t>(q)]; };
  const auto [leading, length] = run_of(stage.walk, stride, stride);
  const auto size = size_of(load.type);
  if (schedule.tile_points() / length > kMostRows) return ahead;
  ahead.row = offsets(stage.walk.digits, leading, stage.walk.digits.size(), from);
  ahead.length = length;
  const auto& to = program.statement().offset.coefficient;
  const auto written = run_of(
      schedule.walk, [&](int q) { return to[static_cast<std::size_t>(q)]; },
      [&](int q) { return stage.layout.stride[static_cast<std::size_t>(q)]; });
  const auto runs = schedule.tile_points() / written.second;
  // Rows that all begin as the first one does have no more lines than they must; others begin anywhere in one.
  const auto line = std::max<std::int64_t>(kLineBytes / size, 1);
  const auto whole =
      std::all_of(from.begin(), from.end(), [&](std::int64_t step) { return step <= 1 || step % line == 0; });
  const auto asked = length * size + (whole ? 0 : kLineBytes - size);
  ahead.with_run = (static_cast<std::int64_t>(ahead.row.size()) * asked + runs * kLineBytes - 1) / (runs * kLineBytes);
  return ahead;
}

const char* table_type(const std::vector<std::int64_t>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *least < INT32_MIN || *most > INT32_MAX ? "i64" : "i32";
}

class StagedEmitter {
 public:
  StagedEmitter(Writer& w, const Program& program, const Schedule& schedule)
      : w_(w), program_(program), schedule_(schedule), stage_(*schedule.stage), ahead_(ahead_of(program, schedule)) {}

  void emit() {
    // A store of a part of a line reads a whole one of the array.
    const auto pad = schedule_.streaming ? kLineBytes / size_of(load().type) : 0;
    w_.line("{} kept[{}] __attribute__((aligned({})));", c_type(load().type), stage_.layout.elements + pad, kLineBytes);
    if (ahead_.on()) w_.line("Ahead ahead(next);");
    w_.line("// read {} along {}", buffer(load().source).name, name(stage_.walk.digits.front().index));
    w_.open("{{");
    if (stage_.walk.vector > 1) {
      emit_blocks();
    } else {
      emit_elements();
    }
    w_.close();
    w_.line("// write {} along {}", output().name, name(schedule_.walk.digits.front().index));
    emit_writing();
  }

 private:
  const ir::Node& load() const { return program_.nodes[static_cast<std::size_t>(stage_.load)]; }
  const ir::Buffer& buffer(int k) const { return program_.buffers[static_cast<std::size_t>(k)]; }
  const ir::Buffer& output() const { return buffer(program_.statement().buffer); }
  std::int64_t tile(int q) const { return schedule_.tile[static_cast<std::size_t>(q)]; }
  const std::string& name(int q) const { return program_.indices[static_cast<std::size_t>(q)].name; }
  std::int64_t kept(int q) const { return stage_.layout.stride[static_cast<std::size_t>(q)]; }

  std::string text(const std::vector<std::int64_t>& stride) const {
    return affine_text(stride, 0, [&](int q) { return tile(q) == 1 ? std::string() : name(q); });
  }

  void open(int q) { w_.open("for (i64 {} = 0; {} < {}; ++{}) {{", name(q), name(q), tile(q), name(q)); }

  /// A row in a few vectors. A loop of elements would be unrolled before it is vectorised, and stay single elements.
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

  /// Runs that are neighbours on both sides, or single elements.
  void emit_elements() {
    const auto& digits = stage_.walk.digits;
    const auto& from = load().offset.coefficient;
    const auto [runs, length] =
        run_of(stage_.walk, [&](int q) { return from[static_cast<std::size_t>(q)]; }, [&](int q) { return kept(q); });
    const auto source = fmt::format("{} + {}", buffer(load().source).name, text(from));
    const auto target = fmt::format("kept + {}", text(stage_.layout.stride));
    for (std::size_t k = 0; k < runs; ++k) w_.line("const i64 {} = 0;", name(digits[k].index));
    for (std::size_t k = digits.size(); k-- > runs;) open(digits[k].index);
    if (runs > 0) {
      emit_row(target, source, length * size_of(load().type));
    } else {
      w_.line("*({}) = *({});", target, source);
    }
    for (std::size_t k = digits.size(); k-- > runs;) w_.close();
  }

  /// One side of a block: where its value number `at` + n lies, for n below `count`, by a literal, a stride or a table.
  class Side {
   public:
    Side(Writer& w, const char* at, const char* table, const std::vector<ir::Digit>& digits, int count,
         const std::vector<std::int64_t>& stride, std::int64_t together)
        : at_(at), table_(table), list_(offsets(digits, 0, static_cast<std::size_t>(count), stride)) {
      const auto values = static_cast<std::int64_t>(list_.size());
      literal_ = values == together;
      even_ = list_.size() < 2 || literal_;
      if (!literal_) {
        const auto step = list_[1] - list_[0];
        even_ = true;
        for (std::size_t n = 1; n < list_.size(); ++n) even_ = even_ && list_[n] - list_[n - 1] == step;
      }
      if (!even_) w.line("static const {} {}[] = {{{}}};", table_type(list_), table, fmt::join(list_, ", "));
    }

    void open(Writer& w, std::int64_t together) const {
      if (literal_) return;
      const auto values = static_cast<std::int64_t>(list_.size());
      w.line("#pragma clang loop unroll(disable) vectorize(disable)");
      w.open("for (i64 {}_at = 0; {}_at < {}; {}_at += {}) {{", at_, at_, values, at_, together);
      if (values % together == 0) {
        w.line("const i64 {} = {}_at;", at_, at_);
      } else {
        const auto last = values - together;
        w.line("const i64 {} = {}_at < {} ? {}_at : {};", at_, at_, last, at_, last);
      }
    }
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
    std::vector<std::int64_t> list_;
    bool literal_ = false, even_ = false;
  };

  void emit_blocks() {
    const auto& digits = stage_.walk.digits;
    const auto& from = load().offset.coefficient;
    const auto block = ir::block_of(schedule_);
    std::vector<bool> inside(program_.indices.size());
    const auto first_digits = [&](const std::vector<ir::Digit>& of, int count) {
      for (int k = 0; k < count; ++k) inside[static_cast<std::size_t>(of[static_cast<std::size_t>(k)].index)] = true;
    };
    first_digits(digits, stage_.along);
    first_digits(schedule_.walk.digits, stage_.across);
    const Side columns(w_, "column", "column_in_kept", digits, stage_.along, stage_.layout.stride, block.columns);
    const Side rows(w_, "row", "row_in_input", schedule_.walk.digits, stage_.across, from, block.rows);
    int opened = 0;
    for (std::size_t k = digits.size(); k-- > 0;) {
      if (inside[static_cast<std::size_t>(digits[k].index)]) continue;
      open(digits[k].index);
      ++opened;
    }
    const auto outside = [&](const std::vector<std::int64_t>& stride) {
      return affine_text(stride, 0, [&](int q) {
        return tile(q) == 1 || inside[static_cast<std::size_t>(q)] ? std::string() : name(q);
      });
    };
    // From memory, a few rows to their ends: a processor fetches those ahead. In the caches, a column's line of the
    // array to its end: it is still in the first one.
    const auto& outer = schedule_.streaming ? rows : columns;
    const auto& inner = schedule_.streaming ? columns : rows;
    outer.open(w_, schedule_.streaming ? block.rows : block.columns);
    inner.open(w_, schedule_.streaming ? block.columns : block.rows);
    const bool along_moves = block.along != block.columns, across_moves = block.across != block.rows;
    w_.line("const {}* const in = {} + {}{};", c_type(load().type), buffer(load().source).name, outside(from),
            along_moves ? " + column" : "");
    w_.line("{}* const out = kept + {}{};", c_type(load().type), outside(stage_.layout.stride),
            across_moves ? " + row" : "");
    w_.line("lanes rows[{}];", block.piece);
    for (int v = 0; v < block.rows; ++v) w_.line("rows[{}] = *(const lanes_in_memory*)(in + {});", v, rows.at(v));
    w_.line("transpose(rows);");
    for (int v = 0; v < block.columns; ++v) {
      w_.line("keep<{}>(out + {}, rows[{}]);", v / block.piece, columns.at(v), v % block.piece);
    }
    inner.close(w_);
    outer.close(w_);
    for (; opened > 0; --opened) w_.close();
  }

  void emit_writing() {
    const auto& statement = program_.statement();
    const auto& to = statement.offset.coefficient;
    const auto& digits = schedule_.walk.digits;
    const auto [runs, length] =
        run_of(schedule_.walk, [&](int q) { return to[static_cast<std::size_t>(q)]; }, [&](int q) { return kept(q); });
    w_.open("{{");
    for (std::size_t k = 0; k < runs; ++k) w_.line("const i64 {} = 0;", name(digits[k].index));
    for (std::size_t k = digits.size(); k-- > runs;) open(digits[k].index);
    const auto& value = program_.nodes[static_cast<std::size_t>(statement.value)];
    const auto target = fmt::format("{} + {}", output().name, text(to));
    const auto source = fmt::format("kept + {}", text(stage_.layout.stride));
    if (value.kind == ir::NodeKind::load && schedule_.streaming) {
      w_.line("write_run({}, {}, {}{});", target, source, length, ahead_.on() ? ", ahead" : "");
    } else {
      w_.line("{}* const out = {};", c_type(output().type), target);
      w_.line("const {}* const in = {};", c_type(load().type), source);
      const auto result = value_text(program_, statement.value,
                                     [&](NodeId id) { return std::string(id == stage_.load ? "in[i]" : "out[i]"); });
      if (schedule_.streaming) {
        const auto vector = schedule_.walk.vector;
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
        if (ahead_.on()) w_.line("if (i % {} < {}) ahead.ask();", line, vector);
        w_.line("{} values[{}];", c_type(output().type), vector);
        w_.line("const i64 at = i;");
        w_.line("#pragma clang loop vectorize(assume_safety)");
        w_.line("for (i64 i = at; i < at + {}; ++i) values[i - at] = {};", vector, result);
        w_.line("stream(out + i, *(const out_lanes_in_memory*)values);");
        w_.close();
        if (ahead_.on()) w_.line("ahead.finish(i / {});", line);
        points("");
      } else {
        w_.line("#pragma clang loop vectorize(assume_safety)");
        w_.line("for (i64 i = 0; i < {}; ++i) out[i] = {};", length, result);
      }
    }
    for (std::size_t k = digits.size(); k-- > runs;) w_.close();
    w_.close();
  }

  Writer& w_;
  const Program& program_;
  const Schedule& schedule_;
  const ir::Stage& stage_;
  Ahead ahead_;
};

void emit_ahead(Writer& w, const Program& program, const Schedule& schedule, const Ahead& ahead) {
  const auto& load = program.nodes[static_cast<std::size_t>(schedule.stage->load)];
  const auto type = c_type(load.type);
  w.line("// What the next tile reads: rows of {} elements, each asked for line by line.", ahead.length);
  w.line("static const {} next_row[] = {{{}}};", table_type(ahead.row), fmt::join(ahead.row, ", "));
  w.open("struct Ahead {{");
  w.line("const {}* next;", type);
  w.line("i64 row;");
  w.line("u64 at, end;");
  w.open("inline __attribute__((always_inline)) Ahead(const {}* next) : next(next), row(-1), at(0), end(0) {{", type);
  w.close();
  w.open("inline __attribute__((always_inline)) void ask() {{");
  w.open("if (at >= end) {{");
  w.line("if (row == {}) return;", ahead.row.size() - 1);
  w.line("const u64 first = (u64)(next + next_row[++row]);");
  w.line("at = first & -{}, end = first + {};", kLineBytes, ahead.length * size_of(load.type));
  w.close();
  w.line("__builtin_prefetch((const void*)at, 0, 3);");
  w.line("at += {};", kLineBytes);
  w.close();
  w.line("// What a run asks for beside the lines that it has written whole.");
  w.open("inline __attribute__((always_inline)) void finish(i64 lines) {{");
  w.line("for (; lines < {}; ++lines) ask();", ahead.with_run);
  w.close();
  w.close("};");
  w.blank();
}

/// What a mask of AVX-512 chooses among: elements, or halves of the widest. Bytes of wider ones take some processors
/// several times as long.
struct MaskedWord {
  const char* type;
  const char* store;
  const char* target;  // what the store takes
  std::int64_t bytes;
};

MaskedWord masked_word(std::int64_t size) {
  if (size == 1) return {"char", "quqi", "words*", 1};
  if (size == 2) return {"short", "quhi", "words*", 2};
  if (size == 4) return {"int", "qusi", "word*", 4};
  return {"long long", "qudi", "word*", 8};
}

/// A run past the caches: up to the first whole line, whole lines, the rest.
void emit_write_run(Writer& w, const Program& program, const Schedule& schedule, const Ahead& ahead) {
  const auto& to = program.buffers[static_cast<std::size_t>(program.statement().buffer)];
  const auto type = c_type(to.type);
  const auto size = size_of(to.type);
  const auto vector = schedule.walk.vector;
  const auto line = kLineBytes / size;
  const bool whole = vector * size == kLineBytes;  // vectors
  const auto word = masked_word(size);
  if (whole) {
    w.line("#ifdef __AVX512BW__");
    w.line("typedef {} word;", word.type);
    w.line("typedef u{} mask;", std::max<std::int64_t>(kLineBytes / word.bytes, 8));
    w.line("typedef word words __attribute__((vector_size({})));", kLineBytes);
    w.line("typedef words words_in_memory __attribute__((aligned(1), may_alias));");
    w.line("#endif");
  }
  w.line("// Fewer elements than a line has.");
  w.open("static inline __attribute__((always_inline)) void write_part({}* to, const {}* from, i64 count) {{", type,
         type);
  if (whole) {
    w.line("#ifdef __AVX512BW__");
    w.line("const words_in_memory* const line = (const words_in_memory*)from;");
    w.line("if (count > 0) __builtin_ia32_stored{}512_mask(({})to, *line, (mask)~0ull >> ({} - {} * count));",
           word.store, word.target, kLineBytes / word.bytes, size / word.bytes);
    w.line("#else");
  }
  for (std::int64_t n = line / 2; n >= 1; n /= 2) {
    w.line("if (count & {}) __builtin_memcpy(to, from, {}), to += {}, from += {};", n, n * size, n, n);
  }
  if (whole) w.line("#endif");
  w.close();
  w.blank();
  w.line("// Past the caches, all but the ends.");
  w.open("static inline __attribute__((always_inline)) void write_run({}* to, const {}* from, i64 count{}) {{", type,
         type, ahead.on() ? ", Ahead& ahead" : "");
  if (size >= 8) {
    w.line("// Complex numbers may be aligned to their parts alone: then no line begins with one.");
    w.open("if ((u64)to % {} != 0) {{", size);
    w.line("for (i64 i = 0; i < count; ++i) to[i] = from[i];");
    w.line("return;");
    w.close();
  }
  w.line("const i64 room = (-(u64)to & {}) / {};", kLineBytes - 1, size);
  w.line("const i64 before = room < count ? room : count;");
  w.line("write_part(to, from, before);");
  w.line("i64 i = before;");
  const auto lines = [&](std::int64_t many) {
    for (std::int64_t n = 0; n < many * line; n += vector) {
      w.line("__builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + {}), (out_lanes*)(to + i + {}));", n,
             n);
    }
    for (std::int64_t n = 0; ahead.on() && n < many; ++n) w.line("ahead.ask();");
  };
  w.line("#pragma clang loop unroll(disable)");
  w.open("for (; i + {} <= count; i += {}) {{", 2 * line, 2 * line);
  lines(2);
  w.close();
  w.open("if (i + {} <= count) {{", line);
  lines(1);
  w.line("i += {};", line);
  w.close();
  w.line("write_part(to + i, from + i, count - i);");
  if (ahead.on()) w.line("ahead.finish((i - before) / {});", line);
  w.close();
  w.blank();
}

}  // namespace

void emit_staged(Writer& writer, const Program& program, const Schedule& schedule) {
  StagedEmitter(writer, program, schedule).emit();
}

void emit_staged_helpers(Writer& w, const Program& program, const Schedule& schedule) {
  const auto& stage = *schedule.stage;
  const auto& load = program.nodes[static_cast<std::size_t>(stage.load)];
  if (stage.walk.vector > 1) {
    const auto block = ir::block_of(schedule);
    const int lanes = lanes_of(load.type);
    std::vector<std::string> parts;
    w.line("typedef {} piece __attribute__((ext_vector_type({})));", lane_type(load.type), block.piece * lanes);
    w.line("typedef piece piece_in_memory __attribute__((aligned({}), may_alias));", size_of(load.type));
    w.line("// Elements of one column, of all rows of a block: part N of what a transpose leaves in a row.");
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
  const auto ahead = ahead_of(program, schedule);
  if (ahead.on()) emit_ahead(w, program, schedule, ahead);
  if (schedule.streaming &&
      program.nodes[static_cast<std::size_t>(program.statement().value)].kind == ir::NodeKind::load)
    emit_write_run(w, program, schedule, ahead);
}

}  // namespace ricci::codegen
