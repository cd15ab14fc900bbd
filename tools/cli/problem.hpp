// The problem that `show` and `explain` are asked about: SPEC axis=extent ... or a program's file, and options.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "ricci/plan.hpp"
#include "ricci/program.hpp"
#include "ricci/runtime.hpp"
#include "ricci/spec.hpp"

namespace ricci::tools {

/// As typed.
struct ProblemOptions {
  std::string what;                       ///< index notation, or a file
  std::vector<std::string> extents;       ///< "a=48"
  std::vector<std::string> more_extents;  ///< the same, by --extent
  std::string dtype, out_dtype;           ///< of specs: one word, or one per operand with commas
  std::string device, target, limits;
  std::string strides_in, strides_out;  ///< of specs: "C", "F" or strides; one, or one per operand with semicolons
  std::string align;                    ///< of specs: bytes; one, or one per operand and one for the output
  std::string alpha = "1", beta = "0", conjugate, schedule, mode, path = "time", precision = "operands", blas;
  std::int64_t workspace_limit = -1;
};

void add_problem_options(Command& command, ProblemOptions& options);

/// Plans it, without running anything. Throws what Runtime's functions throw; SpecError and ShapeError also for axes
/// without an extent, extents without an axis, two extents for one axis, and strides that do not fit.
Plan plan_problem(const ProblemOptions& options);

/// Reads "a=48" words against a spec: the extent of every axis by name.
std::map<std::string, std::int64_t> parse_extents(const Spec& spec, const std::vector<std::string>& words);

/// Whether a word names a program's file, not a spec.
bool names_program(const std::string& word);

/// Reads and parses a program; what is wrong in it is said with the file's name. "a=48" words give open extents.
Program read_program(const std::string& path, const std::vector<std::string>& extents);

/// Throws ShapeError, naming the indices that have no extent yet and how to give one.
void check_extents(const std::string& path, const Program& program);

/// Whether a spec keeps every axis of its one operand.
bool is_permutation(const Spec& spec);

/// The `ricci show` command that makes the same kernels again; empty for a spec with an ellipsis, or with an
/// addend.
std::string show_command(const std::string& spec_text, const std::vector<Layout>& inputs, const Layout& output,
                         const EinsumOptions& options);

}  // namespace ricci::tools
