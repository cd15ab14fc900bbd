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
/// What sums of products are computed in, apart from the types that tensors are kept in. Words for floats are for sums
/// of floats, real and complex, and i32 is for sums of integers; a plan that has sums, and none of the kind that a word
/// is for, is a PlanError before anything runs. What is no sum, and no product in one, is computed as ever.
enum class Precision : std::uint8_t {
  operands,  ///< the widest type of operands and result, at least f32 for floats; integers in the result's
  /// Of f32 and c64, on tensor cores of GPUs from sm_80 on, for sums of products of two tensors; else as `operands`.
  /// Factors are rounded to 11 significant bits, halves away from zero: a product is off by 2^-10 of itself at most.
  tf32,
  tf32x3,  ///< the same with factors as sums of two such parts, of which three products are kept: 2^-20 at most
  f32,     ///< products and sums in f32 or c64. Of f64 and c128, factors are rounded to that; else as `operands`
  f64,     ///< products, sums and factors around them in f64 or c128; the result is rounded once
  /// Of real floats. Each factor that is read is rounded to this type, to nearest even; products and sums are in f32,
  /// where products of two such numbers are exact. On a GPU from sm_80 on by tensor cores, with the same meaning
  /// everywhere: a product of two is off by 2^-7 of itself at most.
  bf16,
  f16,  ///< the same: 2^-10 at most, where factors are within f16's range of 6e-5 to 65504; larger ones are infinite
  i32,  ///< of i8, i16, i32, u8 and u16: products and sums in i32, of which a narrower result has the lowest bits
};
const char* name(Precision precision) noexcept;  ///< "operands", "tf32", ...
/// Reads name()'s words; throws PlanError.
Precision parse_precision(std::string_view text);
/// The most that a product of two factors is off by, relative to itself, beside the rounding of f32 or of the operands.
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
