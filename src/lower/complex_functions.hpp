// Functions of complex numbers, made of real ones of their parts: every back end and the interpreter have them so.
#pragma once

#include "ir/builder.hpp"

namespace ricci::formula {

/// A node for op(z), or op(z, w) for pow and comparisons: of a complex type, real for `absolute`, u8 for `equal` and
/// `not_equal`. Values are principal ones, with the branch cuts of C (Annex G): the sign of a zero says on which side
/// of a cut z lies. That of cbrt is the root with the largest real part, cut along the negative real axis as sqrt is.
ir::NodeId complex_function(ir::Builder& builder, ir::OpCode op, ir::NodeId z, ir::NodeId w = -1);

/// Whether there is one.
bool has_complex_function(ir::OpCode op) noexcept;

}  // namespace ricci::formula
