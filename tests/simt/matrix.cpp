#include "matrix.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace ricci::simt {
namespace {

using kernel::AtomType;
using kernel::Fragment;

template <class T>
T read(const void* registers, int element) {
  T value;
  std::memcpy(&value, static_cast<const unsigned char*>(registers) + static_cast<std::size_t>(element) * sizeof(T),
              sizeof(T));
  return value;
}

float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

float widen_f16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  // An exponent and a fraction of more bits, which ldexp would look for in any number.
  const float magnitude =
      exponent == 0 ? static_cast<float>(fraction) * 0x1p-24f
      : exponent != 31
          ? float_of(static_cast<std::uint32_t>(exponent + 112) << 23 | static_cast<std::uint32_t>(fraction) << 13)
      : fraction == 0 ? std::numeric_limits<float>::infinity()
                      : std::numeric_limits<float>::quiet_NaN();
  return bits & 0x8000u ? -magnitude : magnitude;
}

// What the tensor core takes an element for.
template <class V>
V element_of(AtomType type, const void* registers, int element) {
  switch (type) {
    case AtomType::f64:
      return static_cast<V>(read<double>(registers, element));
    case AtomType::f32:
      return static_cast<V>(read<float>(registers, element));
    case AtomType::tf32:
      return static_cast<V>(float_of(read<std::uint32_t>(registers, element) & 0xffffe000u));
    case AtomType::f16:
      return static_cast<V>(widen_f16(read<std::uint16_t>(registers, element)));
    case AtomType::bf16:
      return static_cast<V>(float_of(std::uint32_t{read<std::uint16_t>(registers, element)} << 16));
    case AtomType::i32:
      return static_cast<V>(read<std::int32_t>(registers, element));
    case AtomType::i8:
      return static_cast<V>(read<std::int8_t>(registers, element));
    case AtomType::u8:
      return static_cast<V>(read<std::uint8_t>(registers, element));
  }
  return V{};
}

template <class V>
std::vector<V> gather(const Fragment& fragment, const std::array<const void*, kWarp>& registers) {
  std::vector<V> tile(std::size_t{fragment.rows()} * fragment.columns());
  for (unsigned lane = 0; lane < kWarp; ++lane)
    for (int e = 0; e < fragment.elements(); ++e) {
      const kernel::TilePlace place = fragment.at(static_cast<int>(lane), e);
      tile[std::size_t{place.row} * fragment.columns() + place.column] =
          element_of<V>(fragment.type, registers[lane], e);
    }
  return tile;
}

// V: the type of the sums, which C's registers hold; unsigned for integers, which wrap.
template <class V>
void multiply_as(const kernel::Atom& atom, const std::array<void*, kWarp>& c, const std::array<const void*, kWarp>& a,
                 const std::array<const void*, kWarp>& b) {
  const std::vector<V> a_tile = gather<V>(atom.a, a), b_tile = gather<V>(atom.b, b);
  for (unsigned lane = 0; lane < kWarp; ++lane)
    for (int e = 0; e < atom.c.elements(); ++e) {
      const kernel::TilePlace place = atom.c.at(static_cast<int>(lane), e);
      V sum = read<V>(c[lane], e);
      for (int k = 0; k < atom.k; ++k)
        sum = multiply_add(a_tile[static_cast<std::size_t>(place.row * atom.k + k)],
                           b_tile[static_cast<std::size_t>(k * atom.n + place.column)], sum);
      std::memcpy(static_cast<unsigned char*>(c[lane]) + static_cast<std::size_t>(e) * sizeof(V), &sum, sizeof(V));
    }
}

}  // namespace

template <class V>
V factor(AtomType type, const void* element) {
  return element_of<V>(type, element, 0);
}
template float factor<float>(AtomType, const void*);
template std::uint32_t factor<std::uint32_t>(AtomType, const void*);

void load_matrices(const std::array<const void*, kWarp>& row, unsigned count, bool transposed,
                   const std::array<std::uint32_t*, kWarp>& registers) {
  for (unsigned i = 0; i < count; ++i) {
    std::uint16_t tile[8][8];
    for (unsigned r = 0; r < 8; ++r) std::memcpy(tile[r], row[8 * i + r], sizeof(tile[r]));
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      const unsigned line = lane / 4, first = lane % 4 * 2;
      const std::uint32_t low = transposed ? tile[first][line] : tile[line][first];
      const std::uint32_t high = transposed ? tile[first + 1][line] : tile[line][first + 1];
      registers[lane][i] = low | high << 16;
    }
  }
}

void multiply(const kernel::Atom& atom, const std::array<void*, kWarp>& c, const std::array<const void*, kWarp>& a,
              const std::array<const void*, kWarp>& b) {
  switch (atom.c.type) {
    case AtomType::f64:
      return multiply_as<double>(atom, c, a, b);
    case AtomType::i32:
      return multiply_as<std::uint32_t>(atom, c, a, b);
    default:
      return multiply_as<float>(atom, c, a, b);
  }
}

}  // namespace ricci::simt
