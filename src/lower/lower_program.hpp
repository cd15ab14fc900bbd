// Programs to sequences of kernels.
#pragma once

#include "frontend/formula.hpp"
#include "ir/sequence.hpp"

namespace ricci::ir {

/// One kernel per group of statements on a grid, per group of statements that add to one access, and per other
/// statement. Slots stand in the order of declaration (a tensor of component pointers has one for each stored
/// component, named as TensorInfo::buffers), then the workspace; params in the order of declaration. Throws ShapeError
/// where an extent is open or a layout impossible, SpecError where a component is read before it is written.
Sequence lower(const formula::ProgramGraph& program);
inline Sequence lower(const ricci::Program& program) { return lower(program.formula()); }

/// Arithmetic of the sequence and of the program as written; see FlopCount.
FlopCount count_flops(const formula::ProgramGraph& program);

}  // namespace ricci::ir

namespace ricci::formula {

/// Tensors that are read beyond their ends as temps with a border, which holds what is read there: of inputs a copy.
ProgramGraph with_borders(const ProgramGraph& program);

/// Products under a sum in the order that takes the fewest operations: inner sums for fields, temps for others.
/// Statements of an exact program stay as they are.
ProgramGraph factorised(const ProgramGraph& program);

}  // namespace ricci::formula
