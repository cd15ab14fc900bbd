#include "codegen/past_caches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "codegen/expression.hpp"
#include "codegen/transpose.hpp"

namespace ricci::codegen {
namespace {

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

/// The function that writes a whole line of what waits and of what comes behind it.
void emit_complete(Writer& w, DType element, int vector) {
  const auto type = c_type(element);
  const auto bits = 8 * std::min<std::int64_t>(size_of(element), 8);
  const int each = lanes_of(element);
  std::vector<int> numbers(static_cast<std::size_t>(vector * each));
  std::iota(numbers.begin(), numbers.end(), 0);
  w.line("// A line whose first elements waited; the others follow them.");
  w.line("typedef i{} numbers __attribute__((ext_vector_type({})));", bits, numbers.size());
  w.open(
      "static inline __attribute__((always_inline)) void complete({}* to, const {}* from, const {}* waiting, i64 n) {{",
      type, type, type);
  w.line("const numbers number = {{{}}};", fmt::join(numbers, ", "));
  for (std::int64_t v = 0; v < kLineBytes / size_of(element); v += vector) {
    const auto waited = each > 1 ? fmt::format("{} * (n - {})", each, v) : fmt::format("n - {}", v);
    w.line(
        "const out_lanes held{} = *(const out_lanes*)(waiting + {}), more{} = *(const out_lanes_in_memory*)(from + "
        "{});",
        v, v, v, v);
    w.line("__builtin_nontemporal_store(number < (i{})({}) ? held{} : more{}, (out_lanes*)(to + {}));", bits, waited, v,
           v, v);
  }
  w.close();
  w.blank();
}

}  // namespace

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

const char* table_type(const std::vector<std::int64_t>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *least < INT32_MIN || *most > INT32_MAX ? "i64" : "i32";
}

Ahead ahead_of(const ir::Program& program, const ir::Schedule& schedule) {
  constexpr std::int64_t kMostRows = 2048;
  Ahead ahead;
  const auto& stage = *schedule.stage;
  if (stage.ahead == 0) return ahead;
  const auto& load = program.nodes[static_cast<std::size_t>(stage.load)];
  const auto& from = load.offset.coefficient;
  const auto stride = [&](int q) { return from[static_cast<std::size_t>(q)]; };
  auto tile = schedule.tile;
  for (const auto q : schedule.order) {
    ahead.in_row = schedule.tiles_along(program, q);
    if (ahead.in_row == 1) continue;
    ahead.tiles = std::min(stage.ahead, ahead.in_row);
    auto& together = tile[static_cast<std::size_t>(q)];
    together = std::min(together * ahead.tiles, program.indices[static_cast<std::size_t>(q)].extent);
    break;
  }
  ir::Walk walk;
  for (int q = 0; q < static_cast<int>(tile.size()); ++q) {
    if (tile[static_cast<std::size_t>(q)] > 1) walk.digits.push_back({q, tile[static_cast<std::size_t>(q)], 1});
  }
  std::int64_t points = 1;
  for (const auto n : tile) points *= n;
  std::stable_sort(walk.digits.begin(), walk.digits.end(), [&](const ir::Digit& one, const ir::Digit& other) {
    return std::abs(stride(one.index)) < std::abs(stride(other.index));
  });
  const auto [leading, length] = run_of(walk, stride, stride);
  const auto size = size_of(load.type);
  if (points / length > kMostRows) return ahead;
  ahead.row = offsets(walk.digits, leading, walk.digits.size(), from);
  ahead.length = length;
  // Rows that all begin as the first one does have no more lines than they must; others begin anywhere in one.
  const auto line = std::max<std::int64_t>(kLineBytes / size, 1);
  const auto whole =
      std::all_of(from.begin(), from.end(), [&](std::int64_t step) { return step <= 1 || step % line == 0; });
  const auto asked = length * size + (whole ? 0 : kLineBytes - size);
  const auto& statement = program.statement();
  const auto& to = statement.offset.coefficient;
  const auto out_size = size_of(program.buffers[static_cast<std::size_t>(statement.buffer)].type);
  for (std::size_t q = 0; q < to.size() && stage.continued < 0; ++q) {
    const auto step = to[q] == 1 ? schedule.tile[q] : to[q];
    ahead.asks_ends = ahead.asks_ends || step * out_size % kLineBytes != 0;
  }
  ahead.lines = (static_cast<std::int64_t>(ahead.row.size()) * asked + kLineBytes - 1) / kLineBytes;
  return ahead;
}

void emit_ahead(Writer& w, const ir::Program& program, const ir::Schedule& schedule, const Ahead& ahead) {
  const auto& load = program.nodes[static_cast<std::size_t>(schedule.stage->load)];
  const auto type = c_type(load.type);
  w.line("// What {} read: rows of {} elements, each asked for line by line.",
         ahead.tiles == 1 ? "a tile" : fmt::format("{} tiles", ahead.tiles), ahead.length);
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
  w.line("__builtin_prefetch((const void*)at, 0, 2);");
  w.line("at += {};", kLineBytes);
  w.close();
  w.close("};");
  w.blank();
}

void emit_ask_ends(Writer& w, const ir::Program& program) {
  const auto type = c_type(program.buffers[static_cast<std::size_t>(program.statement().buffer)].type);
  w.line(
      "// A part of a line is written once the line was read: the lines that a run shares with others are asked for.");
  w.open("static inline __attribute__((always_inline)) void ask_ends(const {}* run, i64 count) {{", type);
  w.line("if ((u64)run % {} != 0) __builtin_prefetch(run, 1, 3);", kLineBytes);
  w.line("if ((u64)(run + count) % {} != 0) __builtin_prefetch(run + count - 1, 1, 3);", kLineBytes);
  w.close();
  w.blank();
}

/// A run past the caches: up to the first whole line, whole lines, the rest.
void emit_write_run(Writer& w, const ir::Program& program, const ir::Schedule& schedule, std::int64_t with_run) {
  const auto& to = program.buffers[static_cast<std::size_t>(program.statement().buffer)];
  const auto type = c_type(to.type);
  const auto size = size_of(to.type);
  const auto vector = schedule.walk.vector;
  const auto line = kLineBytes / size;
  const bool whole = vector * size == kLineBytes;  // vectors
  const auto word = masked_word(size);
  const bool asks = with_run > 0, continued = schedule.stage->continued >= 0;
  const auto* otherwise = continued ? "else " : "";
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
  if (continued) emit_complete(w, to.type, vector);
  w.line("// Past the caches, all but the ends{}.", continued ? " that no other run of this thread continues" : "");
  w.open("static inline __attribute__((always_inline)) void write_run({}* to, const {}* from, i64 count{}{}) {{", type,
         type, asks ? ", Ahead& ahead, Turn& turn" : "",
         continued ? fmt::format(", {}* waiting, bool begun, bool goes_on", type) : "");
  if (size >= 8) {
    w.line("// Complex numbers may be aligned to their parts alone: then no line begins with one.");
    w.open("if ((u64)to % {} != 0) {{", size);
    w.line("for (i64 i = 0; i < count; ++i) to[i] = from[i];");
    w.line("return;");
    w.close();
  }
  w.line("i64 i = 0;");
  w.open("if ((u64)to % {} != 0) {{", kLineBytes);
  w.line("const i64 room = {} - (u64)to % {} / {};", line, kLineBytes, size);
  w.line("i = room < count ? room : count;");
  if (continued)
    w.line("if (begun) complete(to - ({} - room), from - ({} - room), waiting, {} - room);", line, line, line);
  w.line("{}write_part(to, from, i);", otherwise);
  w.close();
  const auto lines = [&](std::int64_t many) {
    for (std::int64_t n = 0; n < many * line; n += vector) {
      w.line("__builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + {}), (out_lanes*)(to + i + {}));", n,
             n);
    }
    for (std::int64_t n = 0; asks && n < many; ++n) w.line("ahead.ask();");
  };
  if (asks) w.line("const i64 before = i;");
  w.line("#pragma clang loop unroll(disable)");
  w.open("for (; i + {} <= count; i += {}) {{", 2 * line, 2 * line);
  lines(2);
  if (asks) w.line("turn.beside_two_lines();");
  w.close();
  w.open("if (i + {} <= count) {{", line);
  lines(1);
  w.line("i += {};", line);
  w.close();
  if (continued) w.line("if (i < count && goes_on) __builtin_memcpy_inline(waiting, from + i, {});", kLineBytes);
  w.line("{}if (i < count) write_part(to + i, from + i, count - i);", otherwise);
  if (asks) w.line("for (i64 lines = (i - before) / {}; lines < {}; ++lines) ahead.ask();", line, with_run);
  w.close();
  w.blank();
}

}  // namespace ricci::codegen
