// C++ from a program and a schedule: one function over a range of tiles, for one thread.
//
//   tile number -> tile origin, pointers moved there -> loops over the tile -> statement, or a block transposed in
//   registers
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/compute.hpp"
#include "codegen/expression.hpp"
#include "codegen/point.hpp"
#include "codegen/source.hpp"
#include "codegen/walk.hpp"
#include "codegen/writer.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {
namespace {

using ir::NodeId;
using ir::Program;
using ir::Schedule;

/// The unsigned integer that holds an element's bits while it is moved between vector lanes.
const char* lane_type(DType type) {
  switch (size_of(type)) {
    case 1:
      return "u8";
    case 2:
      return "u16";
    case 4:
      return "u32";
    default:
      return "u64";
  }
}

/// What CUDA's prelude has from its device (src/codegen/device/cuda.cuh).
std::string host_prelude(const Program& program) {
  const bool counts = std::any_of(program.nodes.begin(), program.nodes.end(), [](const ir::Node& node) {
    return node.kind == ir::NodeKind::op && node.op == ir::OpCode::popcount;
  });
  return counts ? "inline int popcount32(u32 x) { return __builtin_popcount(x); }\n"
                  "inline int popcount64(u64 x) { return __builtin_popcountll(x); }\n\n"
                : "";
}

class CppEmitter {
 public:
  CppEmitter(const Program& program, const Schedule& schedule) : program_(program), schedule_(schedule) {}

  std::string emit(const std::string& kernel) {
    if (schedule_.stage) emit_transpose();
    const char* suffix = schedule_.computes() ? "" : "_base";
    w_.line("extern \"C\" void {}(void* const* args, i64 first, i64 last)", kernel);
    w_.open("{{");
    for (std::size_t k = 0; k < program_.buffers.size(); ++k) {
      const auto& buffer = program_.buffers[k];
      const auto type = fmt::format("{}{}*", buffer.written ? "" : "const ", c_type(buffer.type));
      w_.line("{} const {}{} = ({})args[{}];", type, buffer.name, suffix, type, k);
    }
    for (std::size_t k = 0; k < program_.params.size(); ++k) {
      const auto type = c_type(program_.params[k].type);
      w_.line("const {} {} = *(const {}*)args[{}];", type, program_.params[k].name, type, program_.buffers.size() + k);
    }
    w_.open("for (i64 tile = first; tile < last; ++tile) {{");
    if (schedule_.computes()) {
      emit_compute_cpp(w_, program_, schedule_);
    } else {
      emit_origins();
      emit_loops();
    }
    w_.close();
    // What went past the caches is there for whoever hears that this function has returned.
    if (schedule_.streaming) w_.line("__atomic_thread_fence(__ATOMIC_SEQ_CST);");
    w_.close();
    return w_.take();
  }

 private:
  const ir::Node& node(NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  std::int64_t tile(int q) const { return schedule_.tile[static_cast<std::size_t>(q)]; }
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }
  const std::string& name(int q) const { return program_.indices[static_cast<std::size_t>(q)].name; }

  void emit_origins() {
    std::int64_t below = 1;
    const auto total = schedule_.tiles(program_);
    for (const auto q : schedule_.order) {
      const auto count = (extent(q) + tile(q) - 1) / tile(q);
      if (count == 1) continue;
      std::string number = below == 1 ? "tile" : fmt::format("tile / {}", below);
      if (below * count != total) number += fmt::format(" % {}", count);
      w_.line("const i64 {} = {};", origin_name(program_, schedule_, q),
              tile(q) == 1 ? number : fmt::format("{} * ({})", tile(q), number));
      below *= count;
    }
    const auto& statement = program_.statement();
    const auto move = [&](int buffer, const ir::Affine& affine) {
      const auto& target = program_.buffers[static_cast<std::size_t>(buffer)];
      w_.line("{}{}* __restrict__ const {} = {}_base + ({});", target.written ? "" : "const ", c_type(target.type),
              target.name, target.name, affine_text(affine.coefficient, affine.constant, [&](int q) {
                return origin_name(program_, schedule_, q);
              }));
    };
    std::vector<int> moved{statement.buffer};
    for (const auto id : loads_of(program_, statement.value)) {
      if (std::find(moved.begin(), moved.end(), node(id).source) != moved.end()) continue;
      moved.push_back(node(id).source);
      move(node(id).source, node(id).offset);
    }
    move(statement.buffer, statement.offset);
    for (int q = 0; q < static_cast<int>(program_.indices.size()); ++q) {
      if (extent(q) % tile(q) == 0) continue;
      const auto left = fmt::format("{} - {}", extent(q), origin_name(program_, schedule_, q));
      w_.line("const i64 {}_end = {} < {} ? {} : {};", name(q), left, tile(q), left, tile(q));
    }
  }

  /// Number of values of index q in this tile.
  std::string end(int q) const {
    return extent(q) % tile(q) == 0 ? fmt::format("{}", tile(q)) : fmt::format("{}_end", name(q));
  }

  std::string offset(const ir::Affine& affine) const {
    return affine_text(affine.coefficient, 0, [&](int q) { return tile(q) == 1 ? std::string() : name(q); });
  }

  void emit_loops() {
    const auto& digits = schedule_.walk.digits;
    const std::size_t inner = schedule_.stage ? 2 : 1;  // a transposed block has two loops of its own
    for (std::size_t k = digits.size(); k-- > std::min(inner, digits.size());) open_loop(digits[k].index);
    if (schedule_.stage) {
      emit_blocks(digits[0].index, digits[1].index);
    } else if (digits.empty()) {
      emit_point();
    } else {
      w_.line("#pragma clang loop vectorize(assume_safety)");
      open_loop(digits[0].index);
      emit_point();
      w_.close();
    }
    for (std::size_t k = std::min(inner, digits.size()); k < digits.size(); ++k) w_.close();
  }

  void open_loop(int q) { w_.open("for (i64 {} = 0; {} < {}; ++{}) {{", name(q), name(q), end(q), name(q)); }

  void emit_point() {
    const auto& statement = program_.statement();
    const auto value = value_text(program_, statement.value, [&](NodeId id) {
      return fmt::format("{}[{}]", program_.buffers[static_cast<std::size_t>(node(id).source)].name,
                         offset(node(id).offset));
    });
    w_.line("{}[{}] = {};", program_.buffers[static_cast<std::size_t>(statement.buffer)].name, offset(statement.offset),
            value);
  }

  /// Blocks of vector x vector along `written` (where B is contiguous) and `read` (where A is), then the edges by
  /// points.
  void emit_blocks(int written, int read) {
    const int vector = schedule_.walk.vector;
    // Beside large blocks, unrolled copies and vectors for the edges gain nothing and take two to five times as long to
    // compile; small blocks are quicker with them.
    constexpr std::int64_t kLargeBlockBytes = 512;
    const bool large = size_of(node(schedule_.stage->load).type) * vector * vector >= kLargeBlockBytes;
    const auto open = [&](const std::string& head) {
      if (large) w_.line("#pragma clang loop unroll(disable) vectorize(disable)");
      w_.open("{} {{", head);
    };
    const auto blocks = [&](int q) {
      open(fmt::format("for (; {} + {} <= {}; {} += {})", name(q), vector, end(q), name(q), vector));
    };
    const auto edge = [&](int q) { open(fmt::format("for (; {} < {}; ++{})", name(q), end(q), name(q))); };
    const bool read_edge = extent(read) % tile(read) != 0 || tile(read) % vector != 0;
    const bool written_edge = extent(written) % tile(written) != 0 || tile(written) % vector != 0;
    w_.line("i64 {} = 0;", name(read));
    blocks(read);
    w_.line("i64 {} = 0;", name(written));
    blocks(written);
    emit_block(written, read);
    w_.close();
    if (written_edge) {
      edge(written);
      w_.line("const i64 {}_block = {};", name(read), name(read));
      open(fmt::format("for (i64 {} = {}_block; {} < {}_block + {}; ++{})", name(read), name(read), name(read),
                       name(read), vector, name(read)));
      emit_point();
      w_.close();
      w_.close();
    }
    w_.close();
    if (!read_edge) return;
    edge(read);
    open(fmt::format("for (i64 {} = 0; {} < {}; ++{})", name(written), name(written), end(written), name(written)));
    emit_point();
    w_.close();
    w_.close();
  }

  std::string shifted(const ir::Affine& affine, int q, int by) const {
    const auto step = affine.coefficient[static_cast<std::size_t>(q)] * by;
    const auto text = offset(affine);
    return step == 0 ? text : fmt::format("{} {} {}", text, step < 0 ? '-' : '+', step < 0 ? -step : step);
  }

  void emit_block(int written, int read) {
    const auto& statement = program_.statement();
    const auto& load = node(schedule_.stage->load);
    const int vector = schedule_.walk.vector;
    const auto& from = program_.buffers[static_cast<std::size_t>(load.source)].name;
    const auto& to = program_.buffers[static_cast<std::size_t>(statement.buffer)].name;
    w_.line("lanes row[{}];", vector);
    for (int v = 0; v < vector; ++v) {
      w_.line("row[{}] = *(const lanes_in_memory*)({} + {});", v, from, shifted(load.offset, written, v));
    }
    w_.line("transpose(row);");
    if (node(statement.value).kind == ir::NodeKind::load) {
      for (int v = 0; v < vector; ++v) {
        w_.line("*(lanes_in_memory*)({} + {}) = row[{}];", to, shifted(statement.offset, read, v), v);
      }
      return;
    }
    const auto type = c_type(load.type);
    w_.line("#pragma clang loop unroll(full)");
    w_.open("for (int r = 0; r < {}; ++r) {{", vector);
    w_.line("{} in[{}];", type, vector);
    w_.line("*(lanes_in_memory*)in = row[r];");
    const auto step = statement.offset.coefficient[static_cast<std::size_t>(read)];
    w_.line("{}* const out = {} + ({} + {} * r);",
            c_type(program_.buffers[static_cast<std::size_t>(statement.buffer)].type), to, offset(statement.offset),
            step);
    const auto value = value_text(program_, statement.value, [&](NodeId id) {
      return id == schedule_.stage->load ? std::string("in[v]") : std::string("out[v]");
    });
    w_.line("#pragma clang loop vectorize(assume_safety)");
    w_.line("for (int v = 0; v < {}; ++v) out[v] = {};", vector, value);
    w_.close();
  }

  /// The register transpose: log2(vector) rounds of pairwise exchanges, each two shuffles.
  void emit_transpose() {
    const int vector = schedule_.walk.vector;
    const auto element = lane_type(node(schedule_.stage->load).type);
    const auto bytes = size_of(node(schedule_.stage->load).type);
    w_.line("typedef {} lanes __attribute__((ext_vector_type({})));", element, vector);
    w_.line("typedef lanes lanes_in_memory __attribute__((aligned({}), may_alias));", bytes);
    w_.blank();
    w_.line("// {} x {}: row i of the result is column i of the argument", vector, vector);
    w_.line("static inline __attribute__((always_inline)) void transpose(lanes (&row)[{}])", vector);
    w_.open("{{");
    for (int span = 1; span < vector; span *= 2) {
      for (int i = 0; i < vector; ++i) {
        if (i & span) continue;
        std::vector<int> low, high;
        for (int j = 0; j < vector; ++j) {
          low.push_back(j & span ? vector + j - span : j);
          high.push_back(j & span ? vector + j : j + span);
        }
        w_.line("const lanes low{}_{} = __builtin_shufflevector(row[{}], row[{}], {});", span, i, i, i + span,
                fmt::join(low, ", "));
        w_.line("const lanes high{}_{} = __builtin_shufflevector(row[{}], row[{}], {});", span, i, i, i + span,
                fmt::join(high, ", "));
      }
      for (int i = 0; i < vector; ++i) {
        if (i & span) continue;
        w_.line("row[{}] = low{}_{};", i, span, i);
        w_.line("row[{}] = high{}_{};", i + span, span, i);
      }
    }
    w_.close();
    w_.blank();
  }

  const Program& program_;
  const Schedule& schedule_;
  Writer w_;
};

}  // namespace

Source emit_cpp(const Program& program, const Schedule& schedule, const Notes& notes) {
  ir::verify(schedule, program);
  Source source;
  source.kernel = kernel_name(program);
  source.portable = portable_prelude(program) + host_prelude(program) + lane_types(program, schedule);
  if (schedule.computes()) source.portable += prefix_functions(program);
  source.text = head_text(program, schedule, source.kernel, notes.target, notes.again, notes.plan) +
                CppEmitter(program, schedule).emit(source.kernel);
  return source;
}

}  // namespace ricci::codegen
