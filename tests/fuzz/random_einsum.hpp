// Random einsums over everything the operation allows: one to four operands, all roles of axes, types, views, factors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/random_tensor.hpp"
#include "fuzz/rounding.hpp"
#include "lower/einsum.hpp"
#include "ricci/runtime.hpp"

namespace ricci::fuzz {

/// A problem with its memory.
struct RandomEinsum {
  std::uint64_t seed = 0;
  ir::EinsumProblem problem;
  Scalar alpha = 1, beta = 0;   ///< the factors of the call; of kinds problem.alpha and problem.beta
  std::vector<Tensor> tensors;  ///< the operands', the addend's where there is one, the output's before the call

  std::string text() const;       ///< everything needed to see what failed
  std::vector<void*> pointers();  ///< element (0, 0, ...) of each tensor: the slots of a sequence without its workspace
  std::vector<Scalar> params(const std::vector<ir::Param>& declared) const;
  /// What a user says to plan and to call it. A factor that is an argument of the kernel has another value in the call
  /// than the plan was made with; paths and limits of the workspace alternate.
  EinsumOptions options(Device device) const;
  Call call() const;
  /// What the output must hold, by the interpreter, as one kernel: slots are the tensors.
  Expected expected();
  /// Nothing where the output is as expected and no byte around its elements has changed from `before`; else what is.
  std::string difference(const Expected& want, const Tensor& before);
};

struct EinsumLimits {
  std::int64_t max_points = 20000;  ///< of all axes together
  int max_operands = 4;
};

/// The same seed gives the same problem.
RandomEinsum random_einsum(std::uint64_t seed, const EinsumLimits& limits = {});

}  // namespace ricci::fuzz
