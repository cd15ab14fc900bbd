// C text of types and literals, the prelude and the head of a kernel, shared by both printers.
#pragma once

#include <string>

#include "codegen/source.hpp"

namespace ricci::codegen {

/// The C type of one element: "u64", "float", "c128".
const char* c_type(DType type);

/// A literal of that type: "2.5", "1.5f", "c128{0.0, 1.0}"; of an integer type, by the bits of a constant: "-3",
/// "(u8)7".
std::string literal(Scalar value, DType type);
std::string literal(std::uint64_t bits, DType type);

/// Portable prelude: the parts that the program needs.
std::string portable_prelude(const ir::Program& program);

/// The head comment of a kernel.
std::string head_text(const ir::Program& program, const kernel::Schedule& schedule, const std::string& kernel,
                      const Notes& notes);

}  // namespace ricci::codegen
