#include "codegen/compute.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "codegen/expression.hpp"
#include "codegen/point.hpp"

namespace ricci::codegen {
namespace {

std::string scaled(std::int64_t factor, const std::string& text) {
  if (factor == 1) return text;
  return text.find(' ') == std::string::npos ? fmt::format("{} * {}", factor, text)
                                             : fmt::format("{} * ({})", factor, text);
}

/// `number / below % count`, without what does nothing.
std::string digit(const char* number, std::int64_t below, std::int64_t count, bool last) {
  std::string text = below == 1 ? number : fmt::format("{} / {}", number, below);
  return last ? text : text + fmt::format(" % {}", count);
}

/// Text by which each free index's tile is found from the tile's number; empty where there is one tile.
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

/// The loops over one tile on a CPU: blocks of points while they fit, single points after.
class TileLoops {
 public:
  TileLoops(Writer& writer, const ir::Program& program, const ir::Schedule& schedule)
      : w_(writer), program_(program), schedule_(schedule) {
    block_.each = schedule.each;
    block_.apart.assign(program.indices.size(), 1);
    block_.ragged.assign(program.indices.size(), false);
    block_.lane = schedule.lane;
    block_.lanes = schedule.lanes;
    if (schedule.lanes > 1) block_.apart[static_cast<std::size_t>(schedule.lane)] = schedule.lanes;
    block_.wide = true;
    for (const auto& node : program.nodes) sums_ = sums_ || !node.over.empty();
  }

  void emit() { emit(schedule_.walk.digits.size()); }

 private:
  void emit(std::size_t digits) {
    if (digits == 0) {
      PointEmitter(w_, program_, Language::cpp, block_).emit();
      return;
    }
    const auto q = static_cast<std::size_t>(schedule_.walk.digits[digits - 1].index);
    const auto& name = program_.indices[q].name;
    const auto end =
        program_.indices[q].extent % schedule_.tile[q] == 0 && schedule_.tile[q] == program_.indices[q].extent
            ? fmt::format("{}", program_.indices[q].extent)
            : name + "_end";
    const auto together = block_.each[q] * (static_cast<int>(q) == block_.lane ? block_.lanes : 1);
    const auto origin = schedule_.tile[q] == program_.indices[q].extent ? std::string("0") : name + "0";
    if (together == 1) {
      // What is no sum over elements becomes vectors by the compiler's own means.
      if (digits == 1 && !sums_ && block_.lanes == 1) w_.line("#pragma clang loop vectorize(assume_safety)");
      w_.open("for (i64 {} = {}; {} < {}; ++{}) {{", name, origin, name, end, name);
      emit(digits - 1);
      w_.close();
      return;
    }
    w_.line("i64 {} = {};", name, origin);
    w_.open("for (; {} + {} <= {}; {} += {}) {{", name, together, end, name, together);
    emit(digits - 1);
    w_.close();
    if (program_.indices[q].extent % together == 0) return;
    const auto whole = block_;
    block_.each[q] = 1;
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
  Block block_;
  bool sums_ = false;
};

}  // namespace

void emit_compute_cuda(Writer& writer, const ir::Program& program, const ir::Schedule& schedule, bool wide) {
  const auto numbers = tile_numbers(program, schedule, "block");
  const int team = schedule.team;
  writer.line("const int t = threadIdx.x{};", team > 1 ? fmt::format(" / {}", team) : "");
  if (team > 1)
    writer.line("const int member = threadIdx.x{};", team == schedule.threads ? "" : fmt::format(" % {}", team));
  if (schedule.tiles(program) > 1) writer.line("const int block = blockIdx.x;");

  Block block;
  block.each = schedule.each;
  block.apart.assign(program.indices.size(), 1);
  block.ragged.assign(program.indices.size(), false);
  block.team = team;
  block.wide = wide;
  std::vector<std::string> thread(program.indices.size());
  std::int64_t below = 1;
  const auto positions = schedule.walk.positions();
  for (const auto& d : schedule.walk.digits) {
    if (d.count == 1) continue;
    thread[static_cast<std::size_t>(d.index)] =
        digit("t", below, d.count, below * d.count == positions && positions == schedule.walk.workers);
    below *= d.count;
  }
  std::vector<std::string> outside;  // when a worker has nothing to do
  if (positions < schedule.walk.workers) outside.push_back(fmt::format("t >= {}", positions));
  const auto free = program.free_indices();
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    if (!free[q]) continue;
    const auto& index = program.indices[q];
    block.apart[q] = schedule.tile[q] / schedule.each[q];
    const bool whole = index.extent % schedule.tile[q] == 0;
    if (!whole) {
      if (schedule.each[q] > 1) {
        block.ragged[q] = true;
      }
      outside.push_back(fmt::format("{} >= {}", index.name, index.extent));
    }
    const bool is_long = index.extent > std::numeric_limits<std::int32_t>::max() / 2 || wide;
    std::vector<std::string> terms;
    if (!numbers[q].empty()) {
      const auto number = is_long ? "(i64)(" + numbers[q] + ")" : numbers[q];
      terms.push_back(scaled(schedule.tile[q], number));
    }
    if (!thread[q].empty()) terms.push_back(thread[q]);
    if (terms.empty()) terms.emplace_back("0");
    writer.line("const {} {} = {};", is_long ? "i64" : "int", index.name, fmt::join(terms, " + "));
  }
  // Whole teams leave: their barriers and shuffles meet nobody else.
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
    const bool looped = std::any_of(schedule.walk.digits.begin(), schedule.walk.digits.end(),
                                    [&](const ir::Digit& d) { return d.index == static_cast<int>(q); });
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
    const bool looped = std::any_of(schedule.walk.digits.begin(), schedule.walk.digits.end(),
                                    [&](const ir::Digit& d) { return d.index == static_cast<int>(q); });
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
  return fmt::format(
      "typedef {} {} __attribute__((ext_vector_type({})));\n"
      "typedef {} {}_in_memory __attribute__((aligned({}), may_alias));\n\n",
      c_type(type), vector, schedule.lanes, vector, vector, size_of(type));
}

}  // namespace ricci::codegen
