// Which atoms compute a contraction: what they multiply and in what they sum, against the types of the program.
#pragma once

#include <optional>
#include <string>

#include "kernel/atoms.hpp"
#include "kernel/contraction.hpp"

namespace ricci::kernel {

/// The type in which operands of an atom are staged: that of the sum, to which they are converted, or the narrower one
/// of elements that share a register, which the atom takes as they are or rounded. Null: fused multiply-adds.
DType operand_type(const Atom* atom, const Contraction& contraction) noexcept;

/// Whether an atom computes a contraction as the program says. Products of f16, of bf16 and of
/// bytes are exact in the types that these atoms sum in. Sums of f32 by a tensor core are of a few products at a time,
/// each aligned to the largest and cut off below it, at least as fine as the f32 of the largest: what f32 sums in a
/// free order are bound by, with one more bit of error a step. Atoms of f64 compute products of c128 in four real ones,
/// or in three, of which the error is small beside the product's modulus, and not beside each part of it.
///   parts  that each factor of tf32 is the sum of: 1 for Precision::tf32, 2 for Precision::tf32x3
///   why    where not null, is told why not
bool computes(const Atom& atom, int parts, const ir::Program& program, const Contraction& contraction,
              std::string* why = nullptr);

/// How a CPU's dot products are those of a contraction.
struct Dot {
  const DotTypes* types = nullptr;
  bool flipped = false;  ///< the rows' operand is of i8, and staged as u8
};
/// Nothing where there are none: of other types, of terms of their own, with none or several conversions.
///   rows, columns  the factors that these move
std::optional<Dot> dot_of(const ir::Program& program, const Contraction& contraction, const Factor& rows,
                          const Factor& columns);

/// What is wanted, where a program on that device is a contraction that sums in f32 and has tensor cores for it: the
/// same kernel has the same key whatever was asked for in vain. sm: 0 on a CPU.
Precision effective_precision(const ir::Program& program, Precision wanted, int sm);

}  // namespace ricci::kernel
