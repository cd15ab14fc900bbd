// A tensor that is read in windows, as x(i+r), copied into another order of its axes: each element once, where
// copy_operand would store it once for each window.
#pragma once

#include <vector>

#include "ir/axes.hpp"
#include "ir/sequence.hpp"

namespace ricci::ir {

/// The sequence with a step before step number `step` that copies what `load`, of a buffer that the step does not
/// write, reaches into a workspace storage of its own.
///   axes   of the load's access
///   order  numbers of the axes, each once, the slowest of the copy first
Sequence copy_window(const Sequence& sequence, std::size_t step, NodeId load, const std::vector<Axis>& axes,
                     const std::vector<std::size_t>& order);

}  // namespace ricci::ir
