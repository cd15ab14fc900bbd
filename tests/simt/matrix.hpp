// What the tensor core's instructions do to the registers of a warp.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernel/atoms.hpp"
#include "shadow.hpp"

namespace ricci::simt {

/// What a tensor core takes an element of 8 to 32 bits for.
///   V  type of the sums: float, or std::uint32_t for integers, which wrap
template <class V>
V factor(kernel::AtomType type, const void* element);

/// `sum` with a product more, rounded once.
template <class V>
V multiply_add(V a, V b, V sum) {
  if constexpr (std::is_floating_point_v<V>)
    return std::fma(a, b, sum);
  else
    return a * b + sum;
}

/// ldmatrix: lane 8 i + r points to row r of the i-th matrix, 16 bytes. Lane l gets, in register i, four bytes of row
/// l / 4, from 4 (l % 4) on; transposed, the 16-bit elements 2 (l % 4) and 2 (l % 4) + 1 of column l / 4.
void load_matrices(const std::array<const void*, kWarp>& row, unsigned count, bool transposed,
                   const std::array<std::uint32_t*, kWarp>& registers);

/// c += a * b, each spread over the lanes' registers as the atom says. Every element of C is summed in the order of k.
/// f64: one fma a product, which is what an H200 gives bit for bit. tf32, f16, bf16: products are exact, and each sum
/// is rounded to binary32, to nearest even; tensor cores add several products at once and may cut what is too small for
/// the largest of them. Of tf32 operands the lower 13 bits are dropped. Integers wrap.
void multiply(const kernel::Atom& atom, const std::array<void*, kWarp>& c, const std::array<const void*, kWarp>& a,
              const std::array<const void*, kWarp>& b);

}  // namespace ricci::simt
