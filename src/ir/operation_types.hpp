#pragma once
// Which types the operations take and give, and which of them are counted: one rule for a program's nodes and for a
// kernel's values.
#include <span>

#include "ir/program.hpp"

namespace ricci::ir {

/// The rule that an operation from these operands to this type breaks; nullptr where it breaks none. The operands
/// beyond operand_count(op) are not read. A vector has the type of its lanes. Thread-safe.
const char* broken_type_rule(OpCode op, DType result, std::span<const DType> operands);

/// Whether kernels for a CPU convert whole vectors, with the bits of single values: of floats and integers as C does,
/// of half types those that become f32 or come from it.
bool converts_vectors(DType from, DType to) noexcept;

/// Whether the operation is one of those that are counted: all but changes of sign, casts, parts of complex numbers,
/// comparisons and selections.
bool is_counted(OpCode op) noexcept;

}  // namespace ricci::ir
