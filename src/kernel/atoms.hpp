// Tensor-core atoms as data: which lane of a warp holds which element of A, B and C, in which register. Device
// functions, layouts of register tiles and the simulator's are made from it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "kernel/layout.hpp"
#include "ricci/tensor.hpp"

namespace ricci::kernel {

/// What an operand's elements are. tf32 is a binary32 of which the tensor core reads the upper 19 bits.
enum class AtomType : std::uint8_t { f64, f32, tf32, f16, bf16, i32, i8, u8 };

/// Bits that an element takes up in a register.
constexpr int bits_of(AtomType type) noexcept {
  constexpr int kBits[] = {64, 32, 32, 16, 16, 32, 8, 8};
  return kBits[static_cast<int>(type)];
}

/// The type of an array of such elements.
constexpr DType dtype_of(AtomType type) noexcept {
  constexpr DType kTypes[] = {DType::f64,  DType::f32, DType::f32, DType::f16,
                              DType::bf16, DType::i32, DType::i8,  DType::u8};
  return kTypes[static_cast<int>(type)];
}

/// Dot products of a CPU's vectors: what one instruction sums of a group of neighbours of either operand.
struct DotTypes {
  DType a, b, sum;
  int group;
};
inline constexpr DotTypes kDots[] = {{DType::bf16, DType::bf16, DType::f32, 2}, {DType::u8, DType::i8, DType::i32, 4}};
/// Those of operands of these types; null where there are none.
constexpr const DotTypes* dot_types(DType a, DType b) noexcept {
  for (const auto& dot : kDots) {
    if (dot.a == a && dot.b == b) return &dot;
  }
  return nullptr;
}

/// A step, or a place, within an operand's tile.
struct TilePlace {
  std::uint8_t row = 0, column = 0;
  friend constexpr bool operator==(TilePlace, TilePlace) = default;
};

/// A tile of one operand, spread over the 32 lanes of a warp: by rows and columns. Each lane holds `elements()` of it,
/// numbered on the axis of registers, of which the first lie in the lowest bits of the first register.
struct Fragment {
  AtomType type{};
  Layout layout = {};

  constexpr std::uint8_t rows() const noexcept { return static_cast<std::uint8_t>(layout.shape[0]); }
  constexpr std::uint8_t columns() const noexcept { return static_cast<std::uint8_t>(layout.shape[1]); }
  /// Of one lane: a power of two.
  constexpr std::uint8_t elements() const noexcept { return static_cast<std::uint8_t>(layout.size(LayoutAxis::reg)); }
  constexpr TilePlace at(int lane, int element) const noexcept {
    const auto point = layout.at({.reg = element, .lane = lane});
    return {static_cast<std::uint8_t>(point[0]), static_cast<std::uint8_t>(point[1])};
  }
  /// Where `lane` points to when load_matrix_x<registers()> brings a tile of A or B with elements of at most 32 bits:
  /// to the first of 16 bytes that lie along the members' direction. Transposed, for elements of 16 bits: to the first
  /// of eight elements along the groups' direction. With fewer registers than four the last lanes' addresses do not
  /// matter.
  constexpr TilePlace matrix_row(int lane, bool transposed) const noexcept {
    const int first = lane / 8 % registers() * per_register(), row = lane % 8;
    return transposed ? at(row / 2, first + row % 2) : at(4 * row, first);
  }
  /// Elements in one register: of 64 bits for f64, else of 32.
  constexpr int per_register() const noexcept { return type == AtomType::f64 ? 1 : 32 / bits_of(type); }
  /// The length of the array that the device function takes.
  constexpr int registers() const noexcept { return elements() / per_register(); }
};

/// C[m][n] += sum over k of A[m][k] * B[k][n] by one warp: the device function `mma_<name>(c, a, b)`. By the four warps
/// of a group: each its own m rows, and n columns or a multiple of them; A and B lie in shared memory (warp_group.hpp),
/// C as of one warp after the other, and so does A where registers hold it: the device function `<name>(c, a, b)`.
struct Atom {
  std::string_view name;  ///< "m16n8k8_f64"
  int m = 0, n = 0, k = 0;
  int sm = 0;            ///< least compute capability, times ten; of a warp group the only one
  Fragment a, b, c;      ///< m x k, k x n, m x n
  int warps = 1;         ///< that multiply together
  bool holds_a = false;  ///< of a warp group: A is in registers
};

namespace atoms {

/// A fragment of so many elements a lane. Every place is a sum: of `group` for each four lanes, of `member` for each
/// lane within its four, and of a step for each bit of the element's number.
constexpr Fragment fragment(AtomType type, int rows, int columns, int elements, TilePlace group, TilePlace member,
                            std::array<TilePlace, 4> step) {
  Fragment made{type, {.shape = {rows, columns, 1}}};
  const auto add = [&](LayoutAxis axis, std::int64_t extent, TilePlace by) {
    made.layout.add(axis, extent, by.row != 0 ? 0 : 1, by.row != 0 ? by.row : by.column);
  };
  add(LayoutAxis::lane, 4, member);
  add(LayoutAxis::lane, kWarp / 4, group);
  for (std::size_t bit = 0; 1 << bit < elements; ++bit) add(LayoutAxis::reg, 2, step[bit]);
  return made;
}
// Rows along groups of four lanes, columns along the four; B the other way round. A lane's elements step through the
// rest of the tile.
constexpr Fragment of_a(AtomType type, int rows, int columns, int elements, int member, std::array<TilePlace, 4> step) {
  return fragment(type, rows, columns, elements, {1, 0}, {0, static_cast<std::uint8_t>(member)}, step);
}
constexpr Fragment of_b(AtomType type, int rows, int elements, int member, std::array<TilePlace, 4> step) {
  return fragment(type, rows, 8, elements, {0, 1}, {static_cast<std::uint8_t>(member), 0}, step);
}
// Pairs of neighbours in a row; with 16 rows the second pair is eight rows below.
constexpr Fragment of_c(AtomType type, int rows) { return of_a(type, rows, 8, rows / 4, 2, {{{0, 1}, {8, 0}}}); }
constexpr Fragment a_half(AtomType type, int columns) {
  return of_a(type, 16, columns, columns / 2, 2, {{{0, 1}, {8, 0}, {0, 8}}});
}
constexpr Fragment b_half(AtomType type, int rows) { return of_b(type, rows, rows / 4, 2, {{{1, 0}, {8, 0}}}); }
constexpr Fragment a_byte(AtomType type) { return of_a(type, 16, 32, 16, 4, {{{0, 1}, {0, 2}, {8, 0}, {0, 16}}}); }
constexpr Fragment b_byte(AtomType type) { return of_b(type, 32, 8, 4, {{{1, 0}, {2, 0}, {16, 0}}}); }
// One element of 32 or 64 bits a register: A's second is eight rows below, the next ones four columns further.
constexpr Fragment a_word(AtomType type, int columns) {
  return of_a(type, 16, columns, columns / 2, 1, {{{8, 0}, {0, 4}, {0, 8}}});
}
constexpr Fragment b_word(AtomType type, int rows) { return of_b(type, rows, rows / 4, 1, {{{4, 0}, {8, 0}}}); }

}  // namespace atoms

/// The atoms of mma.sync.
inline constexpr std::array<Atom, 12> kAtoms = {{
    {"m8n8k4_f64", 8, 8, 4, 80, atoms::of_a(AtomType::f64, 8, 4, 1, 1, {}), atoms::b_word(AtomType::f64, 4),
     atoms::of_c(AtomType::f64, 8)},
    {"m16n8k4_f64", 16, 8, 4, 90, atoms::a_word(AtomType::f64, 4), atoms::b_word(AtomType::f64, 4),
     atoms::of_c(AtomType::f64, 16)},
    {"m16n8k8_f64", 16, 8, 8, 90, atoms::a_word(AtomType::f64, 8), atoms::b_word(AtomType::f64, 8),
     atoms::of_c(AtomType::f64, 16)},
    {"m16n8k16_f64", 16, 8, 16, 90, atoms::a_word(AtomType::f64, 16), atoms::b_word(AtomType::f64, 16),
     atoms::of_c(AtomType::f64, 16)},
    {"m16n8k4_tf32", 16, 8, 4, 80, atoms::a_word(AtomType::tf32, 4), atoms::b_word(AtomType::tf32, 4),
     atoms::of_c(AtomType::f32, 16)},
    {"m16n8k8_tf32", 16, 8, 8, 80, atoms::a_word(AtomType::tf32, 8), atoms::b_word(AtomType::tf32, 8),
     atoms::of_c(AtomType::f32, 16)},
    {"m16n8k8_f16", 16, 8, 8, 80, atoms::a_half(AtomType::f16, 8), atoms::b_half(AtomType::f16, 8),
     atoms::of_c(AtomType::f32, 16)},
    {"m16n8k16_f16", 16, 8, 16, 80, atoms::a_half(AtomType::f16, 16), atoms::b_half(AtomType::f16, 16),
     atoms::of_c(AtomType::f32, 16)},
    {"m16n8k8_bf16", 16, 8, 8, 80, atoms::a_half(AtomType::bf16, 8), atoms::b_half(AtomType::bf16, 8),
     atoms::of_c(AtomType::f32, 16)},
    {"m16n8k16_bf16", 16, 8, 16, 80, atoms::a_half(AtomType::bf16, 16), atoms::b_half(AtomType::bf16, 16),
     atoms::of_c(AtomType::f32, 16)},
    {"m16n8k32_i8", 16, 8, 32, 80, atoms::a_byte(AtomType::i8), atoms::b_byte(AtomType::i8),
     atoms::of_c(AtomType::i32, 16)},
    {"m16n8k32_u8", 16, 8, 32, 80, atoms::a_byte(AtomType::u8), atoms::b_byte(AtomType::u8),
     atoms::of_c(AtomType::i32, 16)},
}};

/// The atoms of wgmma, whose instructions have 8 to 256 columns; `rs`: A from registers, B from shared memory.
inline constexpr int kGroupWarps = 4, kMostGroupColumns = 256;
inline constexpr std::array<Atom, 8> kGroupAtoms = {{
    {"wgmma_f16", 16, 8, 16, 90, atoms::a_half(AtomType::f16, 16), atoms::b_half(AtomType::f16, 16),
     atoms::of_c(AtomType::f32, 16), kGroupWarps},
    {"wgmma_bf16", 16, 8, 16, 90, atoms::a_half(AtomType::bf16, 16), atoms::b_half(AtomType::bf16, 16),
     atoms::of_c(AtomType::f32, 16), kGroupWarps},
    {"wgmma_tf32", 16, 8, 8, 90, atoms::a_word(AtomType::tf32, 8), atoms::b_word(AtomType::tf32, 8),
     atoms::of_c(AtomType::f32, 16), kGroupWarps},
    {"wgmma_i8", 16, 8, 32, 90, atoms::a_byte(AtomType::i8), atoms::b_byte(AtomType::i8),
     atoms::of_c(AtomType::i32, 16), kGroupWarps},
    {"wgmma_u8", 16, 8, 32, 90, atoms::a_byte(AtomType::u8), atoms::b_byte(AtomType::u8),
     atoms::of_c(AtomType::i32, 16), kGroupWarps},
    {"wgmma_rs_f16", 16, 8, 16, 90, atoms::a_half(AtomType::f16, 16), atoms::b_half(AtomType::f16, 16),
     atoms::of_c(AtomType::f32, 16), kGroupWarps, true},
    {"wgmma_rs_bf16", 16, 8, 16, 90, atoms::a_half(AtomType::bf16, 16), atoms::b_half(AtomType::bf16, 16),
     atoms::of_c(AtomType::f32, 16), kGroupWarps, true},
    {"wgmma_rs_tf32", 16, 8, 8, 90, atoms::a_word(AtomType::tf32, 8), atoms::b_word(AtomType::tf32, 8),
     atoms::of_c(AtomType::f32, 16), kGroupWarps, true},
}};

/// Whether a warp group reads elements that lie along the depth or along their own side: those of 16 bits. Others lie
/// along the depth.
constexpr bool lies_either_way(AtomType type) noexcept { return bits_of(type) == 16; }
/// Whether an instruction of a warp group has so many columns: multiples of the atom's, of integers beyond 32 those of
/// 16 alone (PTX ISA, "wgmma.mma_async", shapes).
constexpr bool has_instruction(const Atom& atom, std::int64_t columns) noexcept {
  constexpr std::int64_t kFew = 32, kUnit = 16;
  return columns % atom.n == 0 && columns <= kMostGroupColumns &&
         (atom.c.type != AtomType::i32 || columns % kUnit == 0 || columns <= kFew);
}

/// The atom of that name, one of these or an added one (extensions.hpp); null when there is none.
const Atom* find_atom(std::string_view name) noexcept;

}  // namespace ricci::kernel
