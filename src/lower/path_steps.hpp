// Steps of a path that become parts of others.
#pragma once

#include "lower/network.hpp"
#include "lower/path.hpp"

namespace ricci::ir {

/// Makes a step a part of the one that uses its result: operands and terms in the place of the result's.
void inline_step(Path& path, std::size_t number);

/// The tensors that a step takes, as sets of axes.
std::vector<NetworkTensor> tensors_of(const Path& path, const PathStep& step, const EinsumProblem& squeezed,
                                      const Network& network);

/// Counts what the steps do and move anew, after some became parts of others.
void count(Path& path, const EinsumProblem& squeezed, const Network& network);

}  // namespace ricci::ir
