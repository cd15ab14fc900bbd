#include "codegen/vector_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "codegen/expression.hpp"

namespace ricci::codegen {
namespace {

// Conversions of vectors, {0}: "x16" of as many lanes.
constexpr const char* kNarrowBf16 =
    R"(  const u32{0} bits = (u32{0})x, nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return __builtin_convertvector(x != x ? (bits >> 16 & 0x8000u) | 0x7fc0u : nearest, bf16{0});
)";
constexpr const char* kWidenBf16 = R"(  return (f32{0})(__builtin_convertvector(x, u32{0}) << 16);
)";
constexpr const char* kNarrowF16 =
    R"(  const u32{0} sign = (u32{0})x >> 16 & 0x8000u, magnitude = (u32{0})x & 0x7fffffffu;
  const u32{0} normal = (magnitude + 0xc8000fffu + (magnitude >> 13 & 1u)) >> 13;
  const u32{0} small = (u32{0})((f32{0})magnitude + 0.5f) - 0x3f000000u;
  const u32{0} large = magnitude > 0x7f800000u ? (u32{0})0x7e00u : (u32{0})0x7c00u;
  return __builtin_convertvector(
      sign | (magnitude >= 0x47800000u ? large : magnitude < 0x38800000u ? small : normal), f16{0});
)";
constexpr const char* kWidenF16 =
    R"(  const u32{0} bits = __builtin_convertvector(x, u32{0}), magnitude = bits & 0x7fffu;
  const u32{0} finite = (u32{0})((f32{0})(magnitude << 13) * 0x1p112f);
  return (f32{0})((bits & 0x8000u) << 16 | (magnitude >= 0x7c00u ? 0x7f800000u | magnitude << 13 : finite));
)";

// What a group of lanes of a and each one of b have for a product, {0}: the number of sums, {1}: of their bits. Of bf16
// the instruction takes subnormal numbers as 0, and sums two products one after the other, as the other text does.
constexpr const char* kDotBf16 = R"(inline f32x{0} dot(f32x{0} sum, bf16x2 a, bf16x{2} b) {{
  const u32x{0} all = __builtin_bit_cast(u32, a), low = (u32x{0})b << 16, high = (u32x{0})b & 0xffff0000u;
#ifdef __AVX512BF16__
  typedef float sums __attribute__((vector_size({3})));
  typedef __bf16 pairs __attribute__((vector_size({3})));
  return (f32x{0})__builtin_ia32_dpbf16ps_{1}((sums)sum, (pairs)all, (pairs)b);
#else
  sum += (f32x{0})(all & 0xffff0000u) * (f32x{0})high;
  return sum + (f32x{0})(all << 16) * (f32x{0})low;
#endif
}}

)";
constexpr const char* kDotI8 = R"(inline i32x{0} dot(i32x{0} sum, u8x4 a, i8x{2} b) {{
  const u32x{0} all = __builtin_bit_cast(u32, a);
#if defined(__AVX512VNNI__){4}
  typedef int words __attribute__((vector_size({3})));
  return (i32x{0})__builtin_ia32_vpdpbusd{1}((words)sum, (words)all, (words)b);
#else
  const i32x{0} words = (i32x{0})b;
  for (int shift = 0; shift < 32; shift += 8) sum += (i32x{0})(all >> shift & 255u) * (words << (24 - shift) >> 24);
  return sum;
#endif
}}

)";

/// What follows the operands of a shuffle: the lanes that `from` says.
template <class From>
std::string order(int lanes, From from) {
  std::string text;
  for (int lane = 0; lane < lanes; ++lane) text += fmt::format(", {}", from(lane));
  return text;
}

/// The number whose bits up to `high` are reversed.
int reversed(int number, int high) {
  for (int low = 1; low < high; low *= 2, high /= 2) {
    if (((number & low) != 0) != ((number & high) != 0)) number ^= low | high;
  }
  return number;
}

}  // namespace

int words_of(DType type) { return std::max(static_cast<int>(size_of(type)) / 8, 1); }

std::string vector_name(DType type, int lanes) { return fmt::format("{}x{}", name(type), lanes); }

std::string lane_function(const std::string& name, DType type, int lanes) {
  const auto vector = vector_name(type, lanes);
  if (name == "prefixes") {
    auto text =
        fmt::format("// Sums of the lanes up to each.\ninline {0} prefixes({0} x) {{\n  const {0} zero = 0;\n", vector);
    for (int span = 1; span < lanes; span *= 2)
      text += fmt::format("  x += __builtin_shufflevector(zero, x{});\n",
                          order(lanes, [&](int v) { return v < span ? v : lanes + v - span; }));
    return text + "  return x;\n}\n\n";
  }
  if (name == "shifted")
    return fmt::format(
        "// The lanes after one that comes before them.\n"
        "inline {0} shifted({0} x, {1} before) {{ return __builtin_shufflevector(x, ({0})before{2}); }}\n\n",
        vector, c_type(type), order(lanes, [&](int v) { return v == 0 ? lanes : v - 1; }));
  if (name == "interleave")
    return fmt::format("inline {0} interleave({1} x, {1} y) {{ return __builtin_shufflevector(x, y{2}); }}\n\n", vector,
                       vector_name(type, lanes / 2),
                       order(lanes, [&](int v) { return v / 2 + (v % 2 == 0 ? 0 : lanes / 2); }));
  if (name == "dot") {
    const auto* text = type == DType::bf16 ? kDotBf16 : kDotI8;
    // Of vectors of 64 bytes processors without AVX-512 have none.
    const char* avx_vnni = lanes <= 8 ? " || defined(__AVXVNNI__)" : "";
    return fmt::format(fmt::runtime(text), lanes, lanes * 32, lanes * (type == DType::bf16 ? 2 : 4), lanes * 4,
                       avx_vnni);
  }
  // As half.cuh says of a single one.
  const auto converts = [&](const char* to, const char* from, const char* body) {
    const auto of_lanes = fmt::format("x{}", lanes);
    return fmt::format("inline {0}{1} {2}({3}{1} x) {{\n", to, of_lanes, name, from) +
           fmt::format(fmt::runtime(body), of_lanes) + "}\n\n";
  };
  if (name == "narrow_bf16") return converts("bf16", "f32", kNarrowBf16);
  if (name == "widen_bf16") return converts("f32", "bf16", kWidenBf16);
  if (name == "narrow_f16") return converts("f16", "f32", kNarrowF16);
  if (name == "widen_f16") return converts("f32", "f16", kWidenF16);
  // Complex numbers, pairs (x, y): as (-y, x), (x, -y), (x, x) and (y, y).
  const auto pairs = [&](const char* first, const char* second, int of_real, int of_imag) {
    return fmt::format("inline {0} {1}({0} z) {{ return __builtin_shufflevector({2}, {3}{4}); }}\n\n", vector, name,
                       first, second,
                       order(lanes, [&](int v) { return v - v % 2 + (v % 2 == 0 ? of_real : of_imag); }));
  };
  if (name == "times_i") return pairs("-z", "z", 1, lanes);
  if (name == "conj_pairs") return pairs("z", "-z", 0, lanes + 1);
  return name == "real_pairs" ? pairs("z", "z", 0, 0) : pairs("z", "z", 1, 1);
}

const char* moved_type(DType type, int together) { return together > 1 ? "u32" : c_type(type); }

// In log2 of the number of vectors rounds: pairs of vectors interleave pieces of 1, 2, 4, ... elements within 16 bytes,
// by one instruction each, and exchange larger ones. What is interleaved comes out by numbers whose bits are reversed.
// Loops would be unrolled too late for loads to stay in the order of the rows, and templates take Clang longer than the
// rest of a kernel does.
std::string transpose_function(DType type, int lanes, int vectors, int used, int together) {
  const auto vector = vector_name(type, lanes);
  auto text =
      fmt::format("template <>\ninline __attribute__((always_inline)) void transpose<{}, {}>({} (&rows)[{}]) {{\n",
                  moved_type(type, together), used, vector, vectors);
  lanes /= together;
  const int words = words_of(type) * together,
            group = std::min(lanes, std::max(16 / static_cast<int>(size_of(type)) / together, 1));
  std::vector<std::string> rows;
  for (int i = 0; i < vectors; ++i) rows.push_back(fmt::format("rows[{}]", i));
  int made = 0;
  for (int span = 1; span < vectors; span *= 2) {
    // The element of both vectors' that becomes number j.
    const auto place = [&](int j, int high) {
      const int at = j % group;
      return span < group ? j - at + at / span / 2 * span + j % span + at / span % 2 * lanes + high * group / 2
                          : (j & ~span) + ((j & span) != 0 ? lanes : 0) + high * span;
    };
    for (int i = 0; i < vectors; ++i) {
      if ((i & span) != 0 || i / span * span >= used) continue;
      const bool alone = (i | span) / span * span >= used;
      const auto x = rows[static_cast<std::size_t>(i)], y = alone ? x : rows[static_cast<std::size_t>(i | span)];
      for (const int high : {0, 1}) {
        if (high == 0 && alone && span >= group) continue;
        auto& row = rows[static_cast<std::size_t>(high == 0 ? i : i | span)];
        row = fmt::format("v{}", made++);
        text += fmt::format("  const {} {} = __builtin_shufflevector({}, {}{});\n", vector, row, x, y,
                            order(lanes * words, [&](int k) { return words * place(k / words, high) + k % words; }));
      }
    }
  }
  for (int i = 0; i < vectors; ++i)
    text +=
        fmt::format("  rows[{}] = {};\n", i, rows[static_cast<std::size_t>(reversed(i, std::min(group, vectors) / 2))]);
  return text + "}\n\n";
}

}  // namespace ricci::codegen
