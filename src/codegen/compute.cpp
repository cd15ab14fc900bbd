#include "codegen/compute.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <set>

#include "codegen/expression.hpp"
#include "codegen/point.hpp"
#include "ir/passes/canonical_nodes.hpp"

namespace ricci::codegen {
namespace {

std::string scaled(std::int64_t factor, const std::string& text) {
  if (factor == 1) return text;
  return text.find(' ') == std::string::npos ? fmt::format("{} * {}", factor, text)
                                             : fmt::format("{} * ({})", factor, text);
}

/// `number / below % count`, without operations that have no effect.
std::string digit(const char* number, std::int64_t below, std::int64_t count, bool last) {
  std::string text = below == 1 ? number : fmt::format("{} / {}", number, below);
  return last ? text : text + fmt::format(" % {}", count);
}

/// The loops over one tile on a CPU: whole register tiles, then the remaining points one by one.
class TileLoops {
 public:
  TileLoops(Writer& writer, const ir::Program& program, const ir::Schedule& schedule)
      : w_(writer), program_(program), schedule_(schedule) {
    block_.register_tile = schedule.register_tile;
    block_.apart.assign(program.indices.size(), 1);
    block_.ragged.assign(program.indices.size(), false);
    block_.lane = schedule.lane;
    block_.lanes = schedule.lanes;
    if (schedule.lanes > 1) block_.apart[static_cast<std::size_t>(schedule.lane)] = schedule.lanes;
    block_.wide = true;
    block_.streaming = schedule.streaming;
    for (const auto& node : program.nodes) sums_ = sums_ || !node.over.empty();
  }

  void emit() { emit(schedule_.mapping.digits.size()); }

 private:
  /// The offset of an access at the beginning of a strip.
  std::string start(const ir::Affine& affine) const {
    return affine_text(
        affine.coefficient, affine.constant, [&](int q) { return program_.indices[static_cast<std::size_t>(q)].name; },
        true);
  }

  /// Whole strips along the lanes: the parts of the statements one after the other, in place.
  void emit_parts(const std::string& name, const std::string& end) {
    const auto lane = static_cast<std::size_t>(block_.lane);
    auto strip = block_;
    strip.strip = true;
    std::set<std::pair<int, std::string>> prefetched;
    w_.open("for (; {} + {} <= {}; {} += {}) {{", name, schedule_.strip, end, name, schedule_.strip);
    for (const auto& part : schedule_.parts) {
      auto program = program_;
      program.statements.clear();
      for (const int k : part) program.statements.push_back(program_.statements[static_cast<std::size_t>(k)]);
      program = ir::drop_unused(std::move(program));
      w_.open("for (i64 point = 0; point < {}; point += {}) {{", schedule_.strip, block_.lanes);
      // Prefetch the next strip while this one is computed.
      for (const auto& node : program.nodes) {
        if (node.kind != ir::NodeKind::load || node.offset.coefficient[lane] != 1) continue;
        if (!prefetched.emplace(node.source, start(node.offset)).second) continue;
        w_.line("__builtin_prefetch({} + {} + {} + point, 0, 2);",
                program.buffers[static_cast<std::size_t>(node.source)].name, start(node.offset), schedule_.strip);
      }
      PointEmitter(w_, program, Language::cpp, strip).emit();
      w_.close();
    }
    w_.close();
  }

  /// Whole strips along the lanes: all loads into a buffer, the points, all results out of a buffer.
  void emit_strips(const std::string& name, const std::string& end) {
    const auto lane = static_cast<std::size_t>(block_.lane);
    const auto element = c_type(program_.buffers.front().type);
    auto strip = block_;
    strip.strip = true;
    // One more line per row: rows of a power of two would map to the same cache sets.
    strip.row = schedule_.strip + 64 / size_of(program_.buffers.front().type);
    std::vector<std::string> reads;
    for (std::size_t id = 0; id < program_.nodes.size(); ++id) {
      const auto& node = program_.nodes[id];
      if (node.kind != ir::NodeKind::load || node.offset.coefficient[lane] != 1) continue;
      const auto place = static_cast<int>(strip.buffered_loads.size());
      strip.buffered_loads[static_cast<ir::NodeId>(id)] = place;
      reads.push_back(fmt::format("copy(in + {}, {} + {}, {});", place * strip.row,
                                  program_.buffers[static_cast<std::size_t>(node.source)].name, start(node.offset),
                                  schedule_.strip));
    }
    strip.buffered_stores = std::all_of(program_.statements.begin(), program_.statements.end(),
                                        [&](const auto& s) { return s.offset.coefficient[lane] == 1; });
    w_.line("alignas(64) {} in[{}];", element,
            std::max<std::int64_t>(strip.row * static_cast<std::int64_t>(reads.size()), 1));
    if (strip.buffered_stores)
      w_.line("alignas(64) {} out[{}];", element, strip.row * static_cast<std::int64_t>(program_.statements.size()));
    w_.open("for (; {} + {} <= {}; {} += {}) {{", name, schedule_.strip, end, name, schedule_.strip);
    for (const auto& read : reads) w_.line("{}", read);
    w_.open("for (i64 point = 0; point < {}; point += {}) {{", schedule_.strip, block_.lanes);
    PointEmitter(w_, program_, Language::cpp, strip).emit();
    w_.close();
    if (strip.buffered_stores) {
      for (std::size_t k = 0; k < program_.statements.size(); ++k) {
        const auto& statement = program_.statements[k];
        w_.line("{}({} + {}, out + {}, {});", schedule_.streaming ? "copy_streaming" : "copy",
                program_.buffers[static_cast<std::size_t>(statement.buffer)].name, start(statement.offset),
                static_cast<std::int64_t>(k) * strip.row, schedule_.strip);
      }
    }
    w_.close();
  }

  void emit(std::size_t digits) {
    if (digits == 0) {
      PointEmitter(w_, program_, Language::cpp, block_).emit();
      return;
    }
    const auto q = static_cast<std::size_t>(schedule_.mapping.digits[digits - 1].index);
    const auto& name = program_.indices[q].name;
    const auto end =
        program_.indices[q].extent % schedule_.tile[q] == 0 && schedule_.tile[q] == program_.indices[q].extent
            ? fmt::format("{}", program_.indices[q].extent)
            : name + "_end";
    const auto step = block_.register_tile[q] * (static_cast<int>(q) == block_.lane ? block_.lanes : 1);
    const auto origin = schedule_.tile[q] == program_.indices[q].extent ? std::string("0") : name + "0";
    if (step == 1) {
      // Without reductions the compiler vectorises the loop.
      if (digits == 1 && !sums_ && block_.lanes == 1) w_.line("#pragma clang loop vectorize(assume_safety)");
      w_.open("for (i64 {} = {}; {} < {}; ++{}) {{", name, origin, name, end, name);
      emit(digits - 1);
      w_.close();
      return;
    }
    w_.line("i64 {} = {};", name, origin);
    if (schedule_.strip > 0 && static_cast<int>(q) == block_.lane) {
      schedule_.parts.empty() ? emit_strips(name, end) : emit_parts(name, end);
    }
    w_.open("for (; {} + {} <= {}; {} += {}) {{", name, step, end, name, step);
    emit(digits - 1);
    w_.close();
    if (program_.indices[q].extent % step == 0) return;
    const auto whole = block_;
    block_.register_tile[q] = 1;
    if (static_cast<int>(q) == block_.lane) {
      block_.lane = -1;
      block_.lanes = 1;
    }
    w_.open("for (; {} < {}; ++{}) {{", name, end, name);
    emit(digits - 1);
    w_.close();
    block_ = whole;
  }

  Writer& w_;
  const ir::Program& program_;
  const ir::Schedule& schedule_;
  PointBlock block_;
  bool sums_ = false;
};

}  // namespace

std::vector<std::string> tile_numbers(const ir::Program& program, const ir::Schedule& schedule, const char* number) {
  std::vector<std::string> text(program.indices.size());
  std::int64_t below = 1;
  const auto total = schedule.tiles(program);
  for (const auto q : schedule.order) {
    const auto count = schedule.tiles_along(program, q);
    if (count == 1) continue;
    text[static_cast<std::size_t>(q)] = digit(number, below, count, below * count == total);
    below *= count;
  }
  return text;
}

void emit_compute_cuda(Writer& writer, const ir::Program& program, const ir::Schedule& schedule, bool wide) {
  const auto numbers = tile_numbers(program, schedule, "block");
  const int cooperative_threads = schedule.cooperative_threads;
  if (cooperative_threads < schedule.threads)
    writer.line("const int t = threadIdx.x{};",
                cooperative_threads > 1 ? fmt::format(" / {}", cooperative_threads) : "");
  if (cooperative_threads > 1)
    writer.line("const int member = threadIdx.x{};",
                cooperative_threads == schedule.threads ? "" : fmt::format(" % {}", cooperative_threads));
  if (schedule.tiles(program) > 1) writer.line("const int block = blockIdx.x;");

  PointBlock block;
  block.register_tile = schedule.register_tile;
  block.apart.assign(program.indices.size(), 1);
  block.ragged.assign(program.indices.size(), false);
  block.cooperative_threads = cooperative_threads;
  block.items_per_thread = schedule.items_per_thread;
  block.wide = wide;
  std::vector<std::string> thread(program.indices.size());
  std::int64_t below = 1;
  const auto positions = schedule.mapping.positions();
  for (const auto& d : schedule.mapping.digits) {
    if (d.count == 1) continue;
    thread[static_cast<std::size_t>(d.index)] =
        digit("t", below, d.count, below * d.count == positions);  // threads beyond the last position leave
    below *= d.count;
  }
  std::vector<std::string> outside;  // conditions under which a worker has no point
  if (positions < schedule.mapping.workers) outside.push_back(fmt::format("t >= {}", positions));
  const auto free = program.free_indices();
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    if (!free[q]) continue;
    const auto& index = program.indices[q];
    block.apart[q] = schedule.tile[q] / schedule.register_tile[q];
    const bool whole = index.extent % schedule.tile[q] == 0;
    if (!whole) {
      if (schedule.register_tile[q] > 1) {
        block.ragged[q] = true;
      }
      outside.push_back(fmt::format("{} >= {}", index.name, index.extent));
    }
    const bool is_long = index.extent > std::numeric_limits<std::int32_t>::max() / 2 || wide;
    std::vector<std::string> terms;
    if (!numbers[q].empty()) {
      const auto number =
          is_long ? (numbers[q].find(' ') == std::string::npos ? "(i64)" + numbers[q] : "(i64)(" + numbers[q] + ")")
                  : numbers[q];
      terms.push_back(scaled(schedule.tile[q], number));
    }
    if (!thread[q].empty()) terms.push_back(thread[q]);
    if (terms.empty()) terms.emplace_back("0");
    writer.line("const {} {} = {};", is_long ? "i64" : "int", index.name, fmt::join(terms, " + "));
  }
  // Cooperative threads return together, so no barrier or shuffle waits for a missing one.
  if (!outside.empty()) writer.line("if ({}) return;", fmt::join(outside, " || "));
  writer.blank();
  PointEmitter(writer, program, Language::cuda, block).emit();
}

void emit_compute_cpp(Writer& writer, const ir::Program& program, const ir::Schedule& schedule) {
  const auto numbers = tile_numbers(program, schedule, "tile");
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    const auto& index = program.indices[q];
    if (numbers[q].empty()) continue;
    const auto tile = schedule.tile[q];
    const bool looped = std::any_of(schedule.mapping.digits.begin(), schedule.mapping.digits.end(),
                                    [&](const ir::MixedRadixDigit& d) { return d.index == static_cast<int>(q); });
    if (!looped) {
      writer.line("const i64 {} = {};", index.name, numbers[q]);
      continue;
    }
    writer.line("const i64 {}0 = {};", index.name, scaled(tile, numbers[q]));
    if (index.extent % tile == 0) {
      writer.line("const i64 {}_end = {}0 + {};", index.name, index.name, tile);
    } else {
      writer.line("const i64 {}_end = {}0 + {} < {} ? {}0 + {} : {};", index.name, index.name, tile, index.extent,
                  index.name, tile, index.extent);
    }
  }
  for (std::size_t q = 0; q < program.indices.size(); ++q) {  // a free index of one value
    const bool looped = std::any_of(schedule.mapping.digits.begin(), schedule.mapping.digits.end(),
                                    [&](const ir::MixedRadixDigit& d) { return d.index == static_cast<int>(q); });
    if (!looped && numbers[q].empty() && program.free_indices()[q]) {
      writer.line("const i64 {} = 0;", program.indices[q].name);
    }
  }
  TileLoops(writer, program, schedule).emit();
}

std::string lane_types(const ir::Program& program, const ir::Schedule& schedule) {
  if (schedule.lanes <= 1) return {};
  const auto type = program.buffers.front().type;
  const auto vector = fmt::format("{}x{}", name(type), schedule.lanes);
  auto text = fmt::format(
      "typedef {} {} __attribute__((ext_vector_type({})));\n"
      "typedef {} {}_in_memory __attribute__((aligned({}), may_alias));\n\n",
      c_type(type), vector, schedule.lanes, vector, vector, size_of(type));
  if (schedule.streaming) {
    text += fmt::format(
        "// A nontemporal store where the address is aligned, else an ordinary one.\n"
        "static inline void stream({}* to, {} value) {{\n"
        "  if (((u64)to & {}) == 0) {{\n"
        "    __builtin_nontemporal_store(value, ({}*)to);\n"
        "  }} else {{\n"
        "    *({}_in_memory*)to = value;\n"
        "  }}\n"
        "}}\n\n",
        c_type(type), vector, schedule.lanes * size_of(type) - 1, vector, vector);
  }
  const auto copy = [&](const char* name, const std::string& store) {
    return fmt::format(
        "static __attribute__((noinline)) void {}({}* __restrict__ to, const {}* __restrict__ from, int count) {{\n"
        "  #pragma clang loop unroll_count(4)\n"
        "  for (int i = 0; i < count; i += {}) {{ {}; }}\n"
        "}}\n\n",
        name, c_type(type), c_type(type), schedule.lanes, fmt::format(fmt::runtime(store), fmt::arg("v", vector)));
  };
  if (schedule.strip > 0 && schedule.parts.empty()) {
    // Prefetch the next strip while this one is computed.
    text += copy(
        "copy",
        "__builtin_prefetch(from + count + i, 0, 2); *({v}_in_memory*)(to + i) = *(const {v}_in_memory*)(from + i)");
    if (schedule.streaming) text += copy("copy_streaming", "stream(to + i, *(const {v}*)(from + i))");
  }
  return text;
}

}  // namespace ricci::codegen
