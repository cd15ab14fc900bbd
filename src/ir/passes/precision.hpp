// The pass that has sums of products computed in a precision that is asked for: casts around factors, another type of
// the sums. All that runs, and all keys, follow from the program that it makes.
#pragma once

#include "ir/sequence.hpp"

namespace ricci::ir {

/// A sequence whose sums are computed in a precision; as it is for `operands`, tf32 and tf32x3. Of each sum, and of the
/// sums, products, signs and conjugations that it is over:
///
///   f32, f64    the type, f32 or f64, or the complex type of such parts
///   bf16, f16   the type f32; each factor of a product of at least two values that are read from memory, and is one of
///               these itself, is rounded to the half type
///   i32         the type i32, where all that is read is of i8, i16, i32, u8 or u16
///
/// Functions, comparisons and all else keep their types. A type that is wider than a sum's own is that of the sums,
/// products and factors around it, too, so that a value is rounded once, where it is stored or used by something else.
/// Storages and parameters keep their types. Throws PlanError where the sequence has sums and none that the precision
/// is for: integers for a float, floats for i32, complex numbers for a half type.
Sequence in_precision(Sequence sequence, Precision precision);

}  // namespace ricci::ir
