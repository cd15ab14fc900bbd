// The order in which an einsum of many operands is computed: pair by pair, through intermediates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/problem.hpp"

namespace ricci::ir {

/// What bounds the steps of a path on a device.
struct PathRates {
  double flops_per_us = 0, bytes_per_us = 0;
  double start_us = 0;           ///< of a step, however small
  double nest_flops_per_us = 0;  ///< of a step over three operands and more: one nest of loops
  double term_us = 0;            ///< of each term of such a step's sums, which follow one after the other
};

struct PathOptions {
  enum class Minimise : std::uint8_t {
    flops,   ///< fewest operations; among equals, fewest bytes moved
    memory,  ///< fewest bytes of intermediates alive at one time; among equals, fewest operations
    time,    ///< least time by `rates`: of each step the longer one of operations and bytes, and its start; small
             ///< steps become parts of the nests that use them where that saves more than it costs
  };
  Minimise minimise = Minimise::flops;
  PathRates rates = {};               ///< of `time`
  std::int64_t workspace_limit = -1;  ///< bytes of all intermediates in the workspace; -1: any
};

/// One kernel of a path. Operands count from 0; the result of step k is operand `operands of the problem + k`.
struct PathStep {
  std::vector<int> operands;  ///< operands that this step consumes
  Spec spec;                  ///< the step's einsum; in paths of several steps without axes of extent 1
  DType type = DType::f64;    ///< of the result: at least f32, and real as long as the operands are
  double flops = 0;           ///< multiplications and additions of reals
  double bytes = 0;           ///< each element of operands and result once
  double elements = 0;        ///< of the result
  double us = 0;              ///< predicted, where time is what counts
};

struct Path {
  int operands = 0;     ///< of the problem
  bool addend = false;  ///< whether the output is named behind one
  std::vector<PathStep> steps;
  double us = 0, flops = 0, bytes = 0;  ///< of all steps
  double single_kernel_flops = 0;       ///< if all operands were multiplied in one nest of loops
  double largest_intermediate = 0;      ///< elements; 0 with one step
  double peak_bytes = 0;                ///< most bytes of intermediates alive at one time
  std::string method;                   ///< "one step", "exact" or "greedy", and "within N bytes"
};

/// Of one operand, or of two without axes, longer than 1, that one of them alone has: a step over these is all there
/// is. So where products round what they take: what the operands are rounded to is said, not what their sums are.
bool has_one_path(const EinsumProblem& problem);

/// Up to 8 operands: the best of all orders, by dynamic programming over subsets, axes that one operand alone has being
/// summed first. More: the pair that costs least, again and again. Where the intermediates of the order take more than
/// the limit, within_limit() of it, or of the order of fewest bytes if that costs less. Throws as check() does.
Path find_path(const EinsumProblem& problem, const PathOptions& options = {});

/// Paths that lost: of each other pair that may be contracted last the best one, best first, `most` at most. None of
/// more than 8 operands, and where bytes of intermediates are what counts.
std::vector<Path> other_paths(const EinsumProblem& problem, const PathOptions& options, std::size_t most);

/// The path with steps made parts of the nests that use them, as long as that takes less time by the rates.
Path fused(const EinsumProblem& problem, Path path, const PathRates& rates);

/// The path with as few of its intermediates as the limit allows to keep: the step of the largest is made a part of the
/// nest of loops that uses it, again and again, until the workspace of the sequence fits. One nest needs none.
Path within_limit(const EinsumProblem& problem, Path path, std::int64_t workspace_limit);

/// A table for people: a line per step, then the sums.
std::string print(const Path& path);

/// A path beside those that lost: of each its steps, what they are predicted to take, and what bounds them.
std::string compare(const Path& taken, const std::vector<Path>& others, const PathOptions& options);

}  // namespace ricci::ir
