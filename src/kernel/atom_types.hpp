// Which atoms compute a contraction: what they multiply and in what they sum, against the types of the program.
#pragma once

#include <string>

#include "kernel/atoms.hpp"
#include "kernel/contraction.hpp"

namespace ricci::kernel {

/// The type in which operands of an atom are staged: that of the sum, to which they are converted, or the narrower one
/// of elements that share a register, which the atom takes as they are. Null: fused multiply-adds.
DType operand_type(const Atom* atom, const Contraction& contraction) noexcept;

/// Why an atom does not compute a contraction as the program says; empty where it does. Products of f16, of bf16 and of
/// bytes are exact in the types that these atoms sum in. Sums of f32 by a tensor core are of a few products at a time,
/// each aligned to the largest and cut off below it, at least as fine as the f32 of the largest: what f32 sums in a
/// free order are bound by, with one more bit of error a step.
std::string mismatch(const Atom& atom, const ir::Program& program, const Contraction& contraction);

}  // namespace ricci::kernel
