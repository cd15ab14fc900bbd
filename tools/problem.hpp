// The problem that `show` and `explain` are asked about: SPEC axis=extent ... and its options.
#pragma once

#include <CLI/App.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ricci/plan.hpp"
#include "ricci/runtime.hpp"
#include "ricci/spec.hpp"

namespace ricci::tools {

/// As typed.
struct ProblemOptions {
  std::string spec;
  std::vector<std::string> extents;  ///< "a=48"
  std::string dtype = "f64", out_dtype;
  std::string device, target;
  std::string strides_in = "C", strides_out = "C";
  std::string alpha = "1", beta = "0";
  bool conjugate = false;
  std::string schedule;
};

void add_problem_options(CLI::App& command, ProblemOptions& options);

/// Plans it, without running anything. Throws what Runtime::plan_permute throws; SpecError and ShapeError also for axes
/// without an extent, extents without an axis, two extents for one axis, and strides that do not fit.
Plan plan_problem(const ProblemOptions& options);

/// Reads "a=48" words against a spec: the extent of every axis by name.
std::map<std::string, std::int64_t> parse_extents(const Spec& spec, const std::vector<std::string>& words);

/// "sm_90" or "90" to 90. Throws DeviceError.
int parse_target(const std::string& text);

/// The `ricci show` command that makes the same kernel again.
std::string show_command(const std::string& spec_text, const Layout& input, const Layout& output,
                         const PermuteOptions& options);

}  // namespace ricci::tools
