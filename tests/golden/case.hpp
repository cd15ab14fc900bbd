// One golden case: a problem on a line and a schedule as directives, so that goldens change with what builds and prints
// kernels and with nothing else.
//
//   cuda ab->ba a=48 b=40 f64
//   tile b:32
//   ...
//
//   cuda | cpp            the target
//   SPEC axis=extent ...  as on the command line
//   f64 | f64->f16        types
//   strides_in=, strides_out=   in the order of the spec; dense row-major when left out
//   alpha=any beta=any|1 conj
//   precision=WORD        what products and sums are computed in: bf16, tf32, ...
//   tf32=AB               operands that hold numbers rounded to tf32
//
// Or, for what is not a permutation, `cuda program`, and the text of a program behind the directives, of whose kernels
// the first is taken. "#" begins a comment there.
//
// Directives (kernel/directives.hpp) speak of the canonical program, whose indices are a, b, c in the input's order
// (see the case's .ir).
#pragma once

#include <string>

#include "ir/program.hpp"
#include "kernel/schedule.hpp"

namespace ricci::golden {

struct Case {
  std::string name;
  bool cuda = true;
  ir::Program program;        ///< canonical
  kernel::Schedule schedule;  ///< named after the case
};

/// Reads a case. Throws std::runtime_error naming the word that it does not understand.
Case parse_case(const std::string& name, const std::string& text);

}  // namespace ricci::golden
