// Values of a program's expressions at one grid point with random inputs, in complex double precision.
#pragma once

#include "frontend/symmetry.hpp"

namespace ricci::formula {

/// Runs the program's statements on components, then the statement given, and compares the values that its left side
/// would store in one place.
Verdict probe_symmetry(const Program& program, const Statement& statement);

}  // namespace ricci::formula
