// The order in which an einsum of many operands is computed: pair by pair, through intermediates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/problem.hpp"

namespace ricci::ir {

struct PathOptions {
  enum class Minimise : std::uint8_t {
    flops,   ///< fewest operations; among equals, fewest bytes moved
    memory,  ///< fewest bytes of intermediates alive at one time; among equals, fewest operations
  };
  Minimise minimise = Minimise::flops;
};

/// One kernel of a path. Operands count from 0; the result of step k is operand `operands of the problem + k`.
struct PathStep {
  std::vector<int> operands;  ///< operands that this step consumes
  Spec spec;                  ///< the step's einsum; in paths of several steps without axes of extent 1
  DType type = DType::f64;    ///< of the result: at least f32, and real as long as the operands are
  double flops = 0;           ///< multiplications and additions of reals
  double bytes = 0;           ///< each element of operands and result once
  double elements = 0;        ///< of the result
};

struct Path {
  int operands = 0;  ///< of the problem
  std::vector<PathStep> steps;
  double flops = 0, bytes = 0;      ///< of all steps
  double single_kernel_flops = 0;   ///< if all operands were multiplied in one nest of loops
  double largest_intermediate = 0;  ///< elements; 0 with one step
  double peak_bytes = 0;            ///< most bytes of intermediates alive at one time
  std::string method;               ///< "one step", "exact" or "greedy"
};

/// One or two operands: one step. Up to 8: the best of all orders, by dynamic programming over subsets, axes that one
/// operand alone has being summed first. More: the pair that costs least, again and again. Throws as check() does.
Path find_path(const EinsumProblem& problem, const PathOptions& options = {});

/// A table for people: a line per step, then the sums.
std::string print(const Path& path);

}  // namespace ricci::ir
