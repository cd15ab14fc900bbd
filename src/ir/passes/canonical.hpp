// The passes that give equal problems one form, and so one kernel.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// A pass is a pure function; none changes what a program computes.
struct Pass {
  const char* name;
  Program (*run)(Program);
};

/// All passes, in the order in which they run.
std::span<const Pass> canonical_passes();

/// The program with its indices in canonical order, those that are neighbours in every access merged. Buffers and
/// parameters stay as they are.
Program merge_indices(Program program);

/// A program in canonical form, and which of the original's buffers and parameters its own are.
struct Canonical : Program {
  std::vector<int> buffer, param;
};

/// Runs every pass on a program that was verified where it was made, and verifies what becomes of it. With `trace`,
/// verifies after each pass, and appends the program then ("(unchanged)" where it is).
Canonical canonicalise(Program program, std::string* trace = nullptr);

/// The step with its program in canonical form.
Step canonical_step(const Step& step);
/// The same, with that form of its program.
Step canonical_step(const Step& step, Canonical canonical);

}  // namespace ricci::ir
