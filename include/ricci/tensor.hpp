// Element types and the layout of one tensor in memory.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ricci {
inline namespace v1 {

/// Element types. f16 and bf16 are IEEE binary16 and bfloat16; c64 and c128 are pairs (real, imaginary) of f32 and f64.
enum class DType : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128 };

inline constexpr int kDTypeCount = 14;

std::int64_t size_of(DType type) noexcept;  ///< bytes of one element: 1, 2, 4, 8 or 16
const char* name(DType type) noexcept;      ///< "f64", "c128", ...
bool is_integer(DType type) noexcept;       ///< i8..i64 and u8..u64
bool is_complex(DType type) noexcept;       ///< c64 and c128
/// In what tensor cores may compute products of f32, and the real ones that those of c64 are made of, whose sums stay
/// in f32: on a GPU from sm_80 on, for sums of products of two tensors; elsewhere products are those of f32.
enum class Precision : std::uint8_t {
  f32,     ///< products of f32, fused into the sum
  tf32,    ///< factors rounded to 11 significant bits: a product is off by 2^-10 of itself at most
  tf32x3,  ///< factors as sums of two such parts, of which three products are kept: off by 2^-20 of itself at most
};
const char* name(Precision precision) noexcept;  ///< "f32", "tf32", "tf32x3"
/// Reads name()'s words; throws PlanError.
Precision parse_precision(std::string_view text);
/// The most that a product of f32 is off, relative to itself, beside the rounding of f32.
double product_error(Precision precision) noexcept;

/// Reads name()'s words, NumPy's ("float64") and C's ("double", "float"; "half"); throws ShapeError.
DType parse_dtype(std::string_view text);

/// How a tensor lies in memory: element (i0, i1, ...) is at base + sum i_k * strides[k], in elements.
///
///   extents   any, including 0 (an empty tensor) and 1; first axis first, as in the spec
///   strides   in elements; may be negative or, for an input, 0 (broadcast)
///   alignment bytes by which the base pointer is promised to be divisible; 0 promises size_of(type) alone.
///             GPU kernels use it to choose access widths, and a call with a pointer that breaks it is refused
struct Layout {
  DType type = DType::f64;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
  std::int64_t alignment = 16;

  int rank() const noexcept { return static_cast<int>(extents.size()); }
  std::int64_t elements() const noexcept;  ///< product of the extents, 1 for rank 0

  /// Last axis contiguous, as in NumPy and C.
  static Layout row_major(DType type, std::vector<std::int64_t> extents);
  /// First axis contiguous, as in Fortran.
  static Layout column_major(DType type, std::vector<std::int64_t> extents);
  /// Any strides; throws ShapeError when the counts differ or an extent is negative.
  static Layout strided(DType type, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides);
};

/// A run-time factor. Converted once, at the call, to the type that the kernel computes in; a factor with an imaginary
/// part on a real tensor and a fractional factor on an integer tensor are ShapeErrors.
using Scalar = std::complex<double>;

}  // namespace v1
}  // namespace ricci
