// Properties of element types that the public header does not need.
#pragma once

#include "ricci/tensor.hpp"

namespace ricci {

inline bool is_half(DType type) noexcept { return type == DType::f16 || type == DType::bf16; }
inline bool is_real(DType type) noexcept { return type == DType::f32 || type == DType::f64; }  ///< computed in as it is
inline bool is_signed(DType type) noexcept {                                                   ///< i8 .. i64
  return type == DType::i8 || type == DType::i16 || type == DType::i32 || type == DType::i64;
}

/// The real type of a complex one's parts; other types as they are.
constexpr DType part_type(DType type) noexcept {
  return type == DType::c128 ? DType::f64 : type == DType::c64 ? DType::f32 : type;
}

/// Half the distance from 1 to the next number of a type: 2^-53 for f64 and c128; 0 for integers.
inline double unit_roundoff(DType type) noexcept {
  switch (type) {
    case DType::f16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    case DType::f32:
    case DType::c64:
      return 0x1p-24;
    case DType::f64:
    case DType::c128:
      return 0x1p-53;
    default:
      return 0;
  }
}

/// The type that arithmetic on `type` happens in.
inline DType arithmetic(DType type) noexcept { return is_half(type) ? DType::f32 : type; }

/// unit_roundoff() of the sums that tensors of a type are read or written by.
inline double sum_roundoff(DType type, Precision precision) noexcept {
  const bool single = precision == Precision::f32 || precision == Precision::bf16 || precision == Precision::f16;
  return unit_roundoff(single && !is_integer(type) ? DType::f32 : arithmetic(type));
}

/// A number wrapped to an integer type, sign- or zero-extended to 64 bits.
inline std::uint64_t wrapped(std::uint64_t bits, DType type) noexcept {
  const auto unused = static_cast<unsigned>(64 - 8 * size_of(type));
  const auto high = bits << unused;
  return is_signed(type) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(high) >> unused) : high >> unused;
}

}  // namespace ricci
