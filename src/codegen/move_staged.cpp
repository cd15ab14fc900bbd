// A tile that waits in an array between being read in the input's order and written in the output's.
//
//   blocks transposed in registers, or rows, or elements -> kept[...] -> runs of neighbours in the output
#include <fmt/format.h>

#include <algorithm>

#include "codegen/expression.hpp"
#include "codegen/move.hpp"
#include "codegen/walk.hpp"

namespace ricci::codegen {
namespace {

using ir::NodeId;
using ir::Program;
using ir::Schedule;

class StagedEmitter {
 public:
  StagedEmitter(Writer& w, const Program& program, const Schedule& schedule)
      : w_(w), program_(program), schedule_(schedule), stage_(*schedule.stage) {}

  void emit() {
    w_.line("{} kept[{}] __attribute__((aligned(64)));", c_type(load().type), stage_.layout.elements);
    w_.line("// read {} along {}", buffer(load().source).name, name(stage_.walk.digits.front().index));
    w_.open("{{");
    emit_reading();
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

  /// Leading digits of a walk that are one run of neighbours on both of two sides, and its length.
  template <class First, class Second>
  std::pair<std::size_t, std::int64_t> run(const ir::Walk& walk, First first, Second second) const {
    std::int64_t length = 1;
    std::size_t k = 0;
    for (; k < walk.digits.size(); ++k) {
      const auto& digit = walk.digits[k];
      if (digit.step != 1 || first(digit.index) != length || second(digit.index) != length) break;
      length *= digit.count;
    }
    return {k, length};
  }

  void open(int q, std::int64_t step) {
    const auto variable = step == 1 ? name(q) : name(q) + "_at";
    w_.open("for (i64 {} = 0; {} < {}; {}) {{", variable, variable, tile(q),
            step == 1 ? "++" + variable : fmt::format("{} += {}", variable, step));
    if (step == 1) return;
    if (tile(q) % step == 0) {
      w_.line("const i64 {} = {};", name(q), variable);
    } else {
      w_.line("const i64 {} = {} < {} ? {} : {};", name(q), variable, tile(q) - step, variable, tile(q) - step);
    }
  }

  void emit_reading() {
    const auto& digits = stage_.walk.digits;
    const auto& from = load().offset.coefficient;
    const auto vector = stage_.walk.vector;
    const auto [runs, length] =
        run(stage_.walk, [&](int q) { return from[static_cast<std::size_t>(q)]; }, [&](int q) { return kept(q); });
    const auto source = fmt::format("{} + {}", buffer(load().source).name, text(from));
    const auto target = fmt::format("kept + {}", text(stage_.layout.stride));
    std::size_t opened = 0;
    const auto open_from = [&](std::size_t first, std::int64_t across) {
      for (std::size_t k = digits.size(); k-- > first; ++opened) {
        const auto q = digits[k].index;
        const bool block = vector > 1 && (k == 0 || q == across);
        if (block) w_.line("#pragma clang loop unroll(disable) vectorize(disable)");
        open(q, block ? vector : 1);
      }
    };
    if (runs > 0 && vector == 1) {
      for (std::size_t k = 0; k < runs; ++k) w_.line("const i64 {} = 0;", name(digits[k].index));
      open_from(runs, -1);
      w_.line("#pragma clang loop vectorize(assume_safety)");
      w_.line("for (i64 i = 0; i < {}; ++i) ({})[i] = ({})[i];", length, target, source);
    } else if (vector == 1) {
      open_from(0, -1);
      w_.line("*({}) = *({});", target, source);
    } else {
      const int across = schedule_.walk.digits.front().index;
      open_from(0, across);
      w_.line("lanes row[{}];", vector);
      const auto step = from[static_cast<std::size_t>(across)];
      for (int v = 0; v < vector; ++v) {
        w_.line("row[{}] = *(const lanes_in_memory*)({} {} {});", v, source, step < 0 ? '-' : '+',
                v * (step < 0 ? -step : step));
      }
      w_.line("transpose(row);");
      const auto along = kept(digits.front().index);
      for (int v = 0; v < vector; ++v) w_.line("*(lanes_in_memory*)({} + {}) = row[{}];", target, v * along, v);
    }
    for (; opened > 0; --opened) w_.close();
  }

  void emit_writing() {
    const auto& statement = program_.statement();
    const auto& to = statement.offset.coefficient;
    const auto& digits = schedule_.walk.digits;
    const auto [runs, length] =
        run(schedule_.walk, [&](int q) { return to[static_cast<std::size_t>(q)]; }, [&](int q) { return kept(q); });
    w_.open("{{");
    for (std::size_t k = 0; k < runs; ++k) w_.line("const i64 {} = 0;", name(digits[k].index));
    if (schedule_.streaming) w_.line("i64 line = 0;");
    for (std::size_t k = digits.size(); k-- > runs;) open(digits[k].index, 1);
    if (schedule_.streaming) emit_ahead(schedule_.tile_points() / length);
    const auto& value = program_.nodes[static_cast<std::size_t>(statement.value)];
    const auto target = fmt::format("{} + {}", output().name, text(to));
    const auto source = fmt::format("kept + {}", text(stage_.layout.stride));
    if (value.kind == ir::NodeKind::load && schedule_.streaming) {
      w_.line("write_run({}, {}, {});", target, source, length);
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
        w_.open("for (; i + {} <= {}; i += {}) {{", vector, length, vector);
        w_.line("{} values[{}];", c_type(output().type), vector);
        w_.line("const i64 at = i;");
        w_.line("#pragma clang loop vectorize(assume_safety)");
        w_.line("for (i64 i = at; i < at + {}; ++i) values[i - at] = {};", vector, result);
        w_.line("stream(out + i, *(const out_lanes_in_memory*)values);");
        w_.close();
        points("");
      } else {
        w_.line("#pragma clang loop vectorize(assume_safety)");
        w_.line("for (i64 i = 0; i < {}; ++i) out[i] = {};", length, result);
      }
    }
    for (std::size_t k = digits.size(); k-- > runs;) w_.close();
    w_.close();
  }

  /// Beside each of `runs` runs that are written: a share of the lines that the next tile reads.
  void emit_ahead(std::int64_t runs) {
    const auto& from = load().offset.coefficient;
    const auto& digits = stage_.walk.digits;
    constexpr std::int64_t kLineBytes = 64;
    const auto elements = std::max<std::int64_t>(kLineBytes / size_of(load().type), 1);
    const auto [leading, length] = run(
        stage_.walk, [&](int q) { return from[static_cast<std::size_t>(q)]; },
        [&](int q) { return from[static_cast<std::size_t>(q)]; });
    const auto lines = leading == 0 ? 1 : (length + elements - 1) / elements;
    std::int64_t total = lines;
    for (std::size_t k = leading; k < digits.size(); ++k) total *= digits[k].count;
    const auto share = (total + runs - 1) / runs;
    if (share * runs == total) {
      w_.open("for (i64 end = line + {}; line < end; ++line) {{", share);
    } else {
      w_.open("for (i64 end = line + {} < {} ? line + {} : {}; line < end; ++line) {{", share, total, share, total);
    }
    std::string at = leading == 0 ? "0" : fmt::format("{} * (line % {})", elements, lines);
    auto below = lines;
    for (std::size_t k = leading; k < digits.size(); ++k) {
      const auto q = static_cast<std::size_t>(digits[k].index);
      at += fmt::format(" + {} * (line / {} % {})", from[q], below, digits[k].count);
      below *= digits[k].count;
    }
    w_.line("__builtin_prefetch(next + {}, 0, 3);", at);
    w_.close();
  }

  Writer& w_;
  const Program& program_;
  const Schedule& schedule_;
  const ir::Stage& stage_;
};

}  // namespace

void emit_staged(Writer& writer, const Program& program, const Schedule& schedule) {
  StagedEmitter(writer, program, schedule).emit();
}

/// A run past the caches: up to the first whole vector, whole vectors, the rest. Both ends in halves of halves.
void emit_write_run(Writer& w, const Program& program, const Schedule& schedule) {
  const auto& to = program.buffers[static_cast<std::size_t>(program.statement().buffer)];
  const auto type = c_type(to.type);
  const auto vector = schedule.walk.vector;
  w.line("// Past the caches, all but the ends.");
  w.open("static inline void write_run({}* to, const {}* from, i64 count) {{", type, type);
  w.line("const i64 before = (-(u64)to & {}) / {};", vector * size_of(to.type) - 1, size_of(to.type));
  w.line("i64 i = 0;");
  w.open("if (before <= count) {{");
  const auto piece = [&](const char* left, int n) {
    w.line("if ({} & {}) __builtin_memcpy(to + i, from + i, {}), i += {};", left, n, n * size_of(to.type), n);
  };
  for (int n = 1; n < vector; n *= 2) piece("before", n);
  w.line("#pragma clang loop unroll_count(4)");
  w.line(
      "for (; i + {} <= count; i += {}) __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i), "
      "(out_lanes*)(to + i));",
      vector, vector);
  w.close();
  w.line("const i64 after = count - i;");
  for (int n = vector / 2; n >= 1; n /= 2) piece("after", n);
  w.close();
  w.blank();
}

}  // namespace ricci::codegen
