// The oracle's own arithmetic. It shares no code with the generated kernels, so that a mistake in one does not hide in
// the other.
#pragma once

#include <span>

#include "ir/program.hpp"

namespace ricci::ir::oracle {

/// One value: of an integer type sign- or zero-extended, of any other exactly, as doubles. Which of both it is, its
/// type says. Of 16 bytes, as functions return those in registers: stores of eight bytes and a load of all just behind
/// them, which has to wait for them, were half of the interpreter's time.
struct Value {
  union {
    std::uint64_t integer;
    double re;
  };
  double im = 0;

  Value() : integer(0) {}  // re is 0, too
  Value(std::uint64_t bits) : integer(bits) {}
  static Value real(double re, double im = 0) {
    Value value;
    value.re = re;
    value.im = im;
    return value;
  }
};

Value load(const void* address, DType type);
void store(void* address, DType type, const Value& value);

/// A constant's or a parameter's value, rounded to its type.
Value value_of(Scalar scalar, DType type);

/// One operation of type `type` on operands of type `from`; those that it does not take are not looked at.
Value apply(OpCode op, DType type, DType from, const Value& x, const Value& y, const Value& z);

/// The same of `count` values of each operand, one after the other: what is done is looked up once for all of them.
void apply(OpCode op, DType type, DType from, std::span<const Value* const> operands, std::size_t count,
           Value* results);

/// `total` with `count` terms, one after the other, of an operation's own type.
Value combined(OpCode op, DType type, Value total, const Value* terms, std::size_t count);

/// A function of doubles, is_function(op); y is the second operand of those that have one.
double function_of(OpCode op, double x, double y = 0);

/// An f32 rounded to 11 significant bits, halves away from zero.
double nearest_tf32(double x);

/// What a reduction of no terms gives.
Value identity_of(OpCode op, DType type);

inline bool is_zero(const Value& x, DType type) { return is_integer(type) ? x.integer == 0 : x.re == 0 && x.im == 0; }

/// Whether a predicate of any integer type holds.
inline bool holds(const Value& predicate) { return predicate.integer != 0; }

}  // namespace ricci::ir::oracle
