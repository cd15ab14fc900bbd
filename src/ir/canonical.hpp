// The passes that give equal problems one form, and so one kernel.
#pragma once

#include <span>
#include <string>

#include "ir/program.hpp"

namespace ricci::ir {

/// A pass is a pure function; none changes what a program computes.
struct Pass {
  const char* name;
  Program (*run)(Program);
};

/// All passes, in the order in which they run.
std::span<const Pass> canonical_passes();

/// Runs every pass, verifying after each. With `trace`, appends the program after each pass ("(unchanged)" where it
/// is).
Program canonicalise(Program program, std::string* trace = nullptr);

}  // namespace ricci::ir
