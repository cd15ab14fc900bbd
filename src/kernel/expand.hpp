// What both targets' expansions share: making loops and values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"

namespace ricci::kernel {

inline Value load_of(DType type, Access access) {
  Value value;
  value.kind = Value::Kind::load;
  value.type = type;
  value.access = std::move(access);
  return value;
}

/// CUDA: whether so many elements may leave at once by a nontemporal store: 4 bytes or more, at a multiple of them.
inline bool leaves_at_once(const Array& array, int lanes) {
  const auto bytes = lanes * size_of(array.type);
  return bytes >= 4 && array.alignment % bytes == 0;
}

inline Value zero_of(DType type) {
  Value value;
  value.type = type;
  return value;
}

/// What a reduction begins with.
Value identity_of(ir::OpCode op, DType type);

inline Value apply(ir::OpCode op, DType type, std::vector<Value> operands) {
  Value value;
  value.kind = Value::Kind::op;
  value.type = type;
  value.op = op;
  value.operands = std::move(operands);
  return value;
}

/// What a multiply-add of an atom combines with its sum, of an element of either operand.
Value term_of(const Mma& mma, DType type, Value a, Value b);
/// Operations of a text of it, with that which combines; a product is one with its sum.
int operations_of(const Mma& mma);

/// The value converted, or as it is where it has the type.
inline Value cast(Value value, DType to) {
  return value.type == to ? value : apply(ir::OpCode::cast, to, {std::move(value)});
}

/// A u8 with another sign bit: an i8's bits as a number that is larger by 128, and back.
inline Value sign_flipped(Value value) {
  auto sign = zero_of(DType::u8);
  sign.bits = 128;
  return apply(ir::OpCode::bit_xor, DType::u8, {std::move(value), std::move(sign)});
}

/// Names the directive that made statements, where none is named yet.
void made_by(Body& body, int origin);

/// `then` where all conditions hold, else `otherwise`; without an If where constants decide.
Body where(std::vector<Condition> when, Body then, Body otherwise = {});

/// How many of a loop's rounds are unrolled together: of `fewest` to `most` what leaves the fewest rounds to come one
/// after the other, of these the most.
std::int64_t rounds_together(std::int64_t rounds, std::int64_t fewest, std::int64_t most);

/// A body of one statement, which a list in braces would copy.
inline Body only(Statement statement) {
  Body body;
  body.push_back(std::move(statement));
  return body;
}

/// `body` in a loop over all values of a variable.
inline Statement loop_over(Var var, Bind bind, Body body, std::vector<Condition> when = {}) {
  return {Loop{var, bind, std::move(when), std::move(body)}};
}

/// `value` with `by` in place of a variable, wherever it stands.
Access with(Access access, Var var, const Affine& by);
Value with(Value value, Var var, const Affine& by);
std::vector<Condition> with(std::vector<Condition> when, Var var, const Affine& by);
std::vector<Let> with(std::vector<Let> quotients, Var var, const Affine& by);

/// What moves by one with a digit, as far as it goes: the digit, or the remainder that a tile statement names of it.
Var neighbours_along(const std::vector<Let>& quotients, Var digit);
/// What an expression in digits and quotients of them moves by with the next value of a digit, as far as its remainder
/// goes.
std::int64_t step_along(const Affine& index, const std::vector<Let>& quotients, Var digit);
/// Whether `n` values of a digit, from a multiple of n on, are neighbours at a multiple of n of what an expression
/// moves by.
bool has_runs(const Affine& index, const std::vector<Let>& quotients, Var digit, std::int64_t n);
/// Whether conditions hold for all or none of those.
bool hold_alike(const std::vector<Condition>& when, Var digit, std::int64_t n);

/// How many combinations of digits there are.
std::int64_t product(const std::vector<Digit>& digits);
/// Position of a digit combination in a mixed-radix number, the last digit fastest.
Affine position(const std::vector<Digit>& digits);

Body expand_cpu(Kernel& kernel, const Body& body);
Body expand_cuda(Kernel& kernel, const Body& body);

}  // namespace ricci::kernel
