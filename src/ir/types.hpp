// Kinds of element types, for what is no business of the public header.
#pragma once

#include "ricci/tensor.hpp"

namespace ricci {

inline bool is_half(DType type) noexcept { return type == DType::f16 || type == DType::bf16; }
inline bool is_real(DType type) noexcept { return type == DType::f32 || type == DType::f64; }  ///< computed in as it is
inline bool is_signed(DType type) noexcept {                                                   ///< i8 .. i64
  return type == DType::i8 || type == DType::i16 || type == DType::i32 || type == DType::i64;
}

/// The type that arithmetic on `type` happens in.
inline DType arithmetic(DType type) noexcept { return is_half(type) ? DType::f32 : type; }

}  // namespace ricci
