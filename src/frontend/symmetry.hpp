// Whether the right side of a statement has the symmetry with which its left side is stored.
#pragma once

#include "frontend/formula.hpp"

namespace ricci::formula {

enum class Verdict : std::uint8_t {
  proven,     ///< the same expression after the exchange, or equal values at random inputs
  disproven,  ///< other values at random inputs
  unknown,    ///< neither: values that are not finite, or depend on tensors that are not evaluated
};

/// Compares every two multi-indices of the left side that share a stored component.
Verdict symmetry_of(ProgramGraph& program, const Statement& statement);

/// Throws SpecError when disproven and not asserted; logs a warning when unknown, or asserted against the values.
void check_symmetry(ProgramGraph& program, const Statement& statement);

}  // namespace ricci::formula
