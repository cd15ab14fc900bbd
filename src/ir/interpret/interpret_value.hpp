// The oracle's own arithmetic. It shares no code with the generated kernels, so that a mistake in one does not hide in
// the other.
#pragma once

#include "ir/program.hpp"

namespace ricci::ir::oracle {

/// One value of any type. Integers are held sign- or zero-extended; reals exactly, as doubles.
struct Value {
  std::uint64_t integer = 0;
  double re = 0, im = 0;
};

Value load(const void* address, DType type);
void store(void* address, DType type, const Value& value);

/// A constant's or a parameter's value, rounded to its type.
Value value_of(Scalar scalar, DType type);

/// One operation of type `type` on operands of type `from`; those that it does not take are not looked at.
Value apply(OpCode op, DType type, DType from, const Value& x, const Value& y, const Value& z);

/// A function of doubles, is_function(op); y is the second operand of those that have one.
double function_of(OpCode op, double x, double y = 0);

/// An f32 rounded to 11 significant bits, halves away from zero.
double nearest_tf32(double x);

/// What a reduction of no terms gives.
Value identity_of(OpCode op, DType type);

/// Whether a predicate of any integer type holds.
inline bool holds(const Value& predicate) { return predicate.integer != 0; }

}  // namespace ricci::ir::oracle
