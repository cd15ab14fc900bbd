#include "ir/operation_types.hpp"

#include "ir/types.hpp"

namespace ricci::ir {

const char* broken_type_rule(OpCode op, DType result, std::span<const DType> operands) {
  const auto x = operands[0];
  const auto unless = [](bool holds, const char* rule) { return holds ? nullptr : rule; };
  const bool alike = x == result && (operand_count(op) == 1 || operands[1] == result);
  constexpr const char* kAlike = "both operands have the result's type";
  if (is_arithmetic(op)) return unless(alike, kAlike);
  if (is_function(op)) return unless(alike && is_real(result), "functions take and give f32 or f64");
  if (is_comparison(op)) {
    if (result != DType::u8) return "comparisons give u8";
    return unless(x == operands[1] && !is_complex(x) && !is_half(x),
                  "comparisons take two operands of one real or integer type");
  }
  switch (op) {
    case OpCode::conj:
      return unless(alike && is_complex(result), "conj takes and gives one complex type");
    case OpCode::cast:
      if (is_complex(x) && !is_complex(result)) return "no cast drops an imaginary part";
      return unless(!is_integer(result) || is_integer(x), "no cast from floats to integers");
    case OpCode::tf32:
    case OpCode::tf32_rest:
      return unless(alike && result == DType::f32, "numbers that are rounded to tf32 are f32");
    case OpCode::real_part:
    case OpCode::imag_part:
      return unless(is_real(result) && x == (result == DType::f64 ? DType::c128 : DType::c64),
                    "parts are of the type that a complex one is made of");
    case OpCode::complex_of:
      return unless(is_complex(result) && x == operands[1] && x == part_type(result),
                    "complex numbers are made of two of the type of their parts");
    case OpCode::minimum:
    case OpCode::maximum:
    case OpCode::absolute:
    case OpCode::sign:
    case OpCode::remainder:
      if (is_complex(result)) return "complex numbers have no order";
      return unless(alike, kAlike);
    case OpCode::bit_and:
    case OpCode::bit_or:
    case OpCode::bit_xor:
    case OpCode::bit_not:
    case OpCode::shift_left:
    case OpCode::shift_right:
    case OpCode::popcount:
      if (!is_integer(result)) return "bits are those of integers";
      return unless(alike, kAlike);
    case OpCode::select:
      return unless(x == DType::u8 && operands[1] == result && operands[2] == result,
                    "select takes a u8 and two operands of its type");
    default:
      return nullptr;
  }
}

bool converts_vectors(DType from, DType to) noexcept {
  if (is_complex(from) || is_complex(to)) return false;
  if (is_half(from) || is_half(to)) return from == DType::f32 || to == DType::f32;
  return is_integer(from) || !is_integer(to);
}

bool is_counted(OpCode op) noexcept {
  switch (op) {
    case OpCode::neg:
    case OpCode::conj:
    case OpCode::cast:
    case OpCode::tf32:
    case OpCode::tf32_rest:
    case OpCode::real_part:
    case OpCode::imag_part:
    case OpCode::complex_of:
    case OpCode::select:
    case OpCode::equal:
    case OpCode::not_equal:
    case OpCode::less:
    case OpCode::less_equal:
      return false;
    default:
      return true;
  }
}

}  // namespace ricci::ir
