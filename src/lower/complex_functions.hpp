// Functions of complex numbers, made of real ones of their parts: every back end and the interpreter have them so.
#pragma once

#include "ir/builder.hpp"

namespace ricci::formula {

/// A node for op(z), or op(z, w) for pow: of a complex type, or real for `absolute`. op is one of absolute, sqrt,
/// rsqrt, exp, log, sin, cos, tan, sinh, cosh, tanh, pow. Branches are C's: cuts along the negative real axis.
ir::NodeId complex_function(ir::Builder& builder, ir::OpCode op, ir::NodeId z, ir::NodeId w = -1);

/// Whether there is one.
bool has_complex_function(ir::OpCode op) noexcept;

}  // namespace ricci::formula
