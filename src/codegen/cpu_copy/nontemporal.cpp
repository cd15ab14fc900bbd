#include "codegen/cpu_copy/nontemporal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "codegen/cpu_copy/transpose.hpp"
#include "codegen/expression.hpp"

namespace ricci::codegen {
namespace {

/// The element of an AVX-512 masked store: the tensor's element, or half of a 16-byte one. Masks over bytes are several
/// times slower on some processors.
struct MaskedWord {
  const char* type;
  const char* store;
  const char* target;  // pointer type of the intrinsic
  std::int64_t bytes;
};

MaskedWord masked_word(std::int64_t size) {
  if (size == 1) return {"char", "quqi", "words*", 1};
  if (size == 2) return {"short", "quhi", "words*", 2};
  if (size == 4) return {"int", "qusi", "word*", 4};
  return {"long long", "qudi", "word*", 8};
}

/// Emits the function that stores a whole line: first the carried elements, then those that follow.
void emit_complete(Writer& w, DType element, int vector) {
  const auto type = c_type(element);
  const auto bits = 8 * std::min<std::int64_t>(size_of(element), 8);
  const int lanes = lanes_of(element);
  std::vector<int> numbers(static_cast<std::size_t>(vector * lanes));
  std::iota(numbers.begin(), numbers.end(), 0);
  w.line("// A line whose first n elements were carried over from the tile before.");
  w.line("typedef i{} numbers __attribute__((ext_vector_type({})));", bits, numbers.size());
  w.open(
      "static inline __attribute__((always_inline)) void complete({}* to, const {}* from, const {}* waiting, i64 n) {{",
      type, type, type);
  w.line("const numbers number = {{{}}};", fmt::join(numbers, ", "));
  for (std::int64_t v = 0; v < kLineBytes / size_of(element); v += vector) {
    const auto waited = lanes > 1 ? fmt::format("{} * (n - {})", lanes, v) : fmt::format("n - {}", v);
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

const char* table_type(const std::vector<std::int64_t>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *least < INT32_MIN || *most > INT32_MAX ? "i64" : "i32";
}

void emit_prefetch(Writer& w, const ir::Program& program, const kernel::Moves& moves, const Prefetch& prefetch) {
  const auto& load = program.nodes[static_cast<std::size_t>(moves.stage->load)];
  const auto type = c_type(load.type);
  w.line("// The input of {}: rows of {} elements, prefetched line by line.",
         prefetch.tiles == 1 ? "a tile" : fmt::format("{} tiles", prefetch.tiles), prefetch.length);
  w.line("static const {} next_row[] = {{{}}};", table_type(prefetch.row), fmt::join(prefetch.row, ", "));
  w.open("struct Prefetch {{");
  w.line("const {}* next;", type);
  w.line("i64 row;");
  w.line("u64 at, end;");
  w.open("inline __attribute__((always_inline)) Prefetch(const {}* next) : next(next), row(-1), at(0), end(0) {{",
         type);
  w.close();
  w.open("inline __attribute__((always_inline)) void request() {{");
  w.open("if (at >= end) {{");
  w.line("if (row == {}) return;", prefetch.row.size() - 1);
  w.line("const u64 first = (u64)(next + next_row[++row]);");
  w.line("at = first & -{}, end = first + {};", kLineBytes, prefetch.length * size_of(load.type));
  w.close();
  w.line("__builtin_prefetch((const void*)at, 0, 2);");
  w.line("at += {};", kLineBytes);
  w.close();
  w.close("};");
  w.blank();
}

void emit_prefetch_ends(Writer& w, const ir::Program& program) {
  const auto type = c_type(program.buffers[static_cast<std::size_t>(program.statement().buffer)].type);
  w.line("// Storing part of a line reads the line first: prefetch the lines that a run shares with others.");
  w.open("static inline __attribute__((always_inline)) void prefetch_ends(const {}* run, i64 count) {{", type);
  w.line("if ((u64)run % {} != 0) __builtin_prefetch(run, 1, 3);", kLineBytes);
  w.line("if ((u64)(run + count) % {} != 0) __builtin_prefetch(run + count - 1, 1, 3);", kLineBytes);
  w.close();
  w.blank();
}

/// A run by nontemporal stores: elements up to the first whole line, whole lines, the rest.
void emit_write_run(Writer& w, const ir::Program& program, const kernel::Moves& moves, std::int64_t with_run) {
  const auto& to = program.buffers[static_cast<std::size_t>(program.statement().buffer)];
  const auto type = c_type(to.type);
  const auto size = size_of(to.type);
  const auto vector = moves.mapping.vector;
  const auto line = kLineBytes / size;
  const bool whole = vector * size == kLineBytes;  // vectors
  const auto word = masked_word(size);
  const bool asks = with_run > 0, carry = moves.stage->line_carry >= 0;
  const auto* otherwise = carry ? "else " : "";
  if (whole) {
    w.line("#ifdef __AVX512BW__");
    w.line("typedef {} word;", word.type);
    w.line("typedef u{} mask;", std::max<std::int64_t>(kLineBytes / word.bytes, 8));
    w.line("typedef word words __attribute__((vector_size({})));", kLineBytes);
    w.line("typedef words words_in_memory __attribute__((aligned(1), may_alias));");
    w.line("#endif");
  }
  w.line("// Part of a line.");
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
  if (carry) emit_complete(w, to.type, vector);
  w.line("// Nontemporal stores, except for the ends{}.", carry ? " that later tiles complete" : "");
  w.open("static inline __attribute__((always_inline)) void write_run({}* to, const {}* from, i64 count{}{}) {{", type,
         type, asks ? ", Prefetch& prefetch, TileReader& reader" : "",
         carry ? fmt::format(", {}* waiting, bool begun, bool goes_on", type) : "");
  if (size >= 8) {
    w.line("// Complex numbers may be aligned to half their size: then no line begins with one.");
    w.open("if ((u64)to % {} != 0) {{", size);
    w.line("for (i64 i = 0; i < count; ++i) to[i] = from[i];");
    w.line("return;");
    w.close();
  }
  w.line("i64 i = 0;");
  w.open("if ((u64)to % {} != 0) {{", kLineBytes);
  w.line("const i64 room = {} - (u64)to % {} / {};", line, kLineBytes, size);
  w.line("i = room < count ? room : count;");
  if (carry) w.line("if (begun) complete(to - ({} - room), from - ({} - room), waiting, {} - room);", line, line, line);
  w.line("{}write_part(to, from, i);", otherwise);
  w.close();
  const auto lines = [&](std::int64_t many) {
    for (std::int64_t n = 0; n < many * line; n += vector) {
      w.line("__builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + {}), (out_lanes*)(to + i + {}));", n,
             n);
    }
    for (std::int64_t n = 0; asks && n < many; ++n) w.line("prefetch.request();");
  };
  if (asks) w.line("const i64 before = i;");
  w.line("#pragma clang loop unroll(disable)");
  w.open("for (; i + {} <= count; i += {}) {{", 2 * line, 2 * line);
  lines(2);
  if (asks) w.line("reader.beside_two_lines();");
  w.close();
  w.open("if (i + {} <= count) {{", line);
  lines(1);
  w.line("i += {};", line);
  w.close();
  if (carry) w.line("if (i < count && goes_on) __builtin_memcpy_inline(waiting, from + i, {});", kLineBytes);
  w.line("{}if (i < count) write_part(to + i, from + i, count - i);", otherwise);
  if (asks) w.line("for (i64 lines = (i - before) / {}; lines < {}; ++lines) prefetch.request();", line, with_run);
  w.close();
  w.blank();
}

}  // namespace ricci::codegen
