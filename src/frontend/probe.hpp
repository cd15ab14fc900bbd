// Values of a program's expressions at one grid point with random inputs, in complex double precision.
#pragma once

#include "frontend/symmetry.hpp"

namespace ricci::formula {

/// Runs those of the program's statements on components that were not run yet, then the statement given, and compares
/// the values that its left side would store in one place. The program keeps the values: each of its statements is run
/// once, however many are probed.
Verdict probe_symmetry(ProgramGraph& program, const Statement& statement);

}  // namespace ricci::formula
