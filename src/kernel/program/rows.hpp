// Rows: sums over indices of one extent, and results along such an index, which a group of threads computes of what it
// has read once.
#pragma once

#include <cstdint>
#include <string>

#include "ir/program.hpp"

namespace ricci::kernel {

/// The rule that keeps a program from being computed row by row along an index, of results or of a sum; empty: none.
///   lanes  neighbours along it that a thread has side by side
std::string row_fault(const ir::Program& program, int index, std::int64_t lanes = 1);

/// An index of such rows: of results where these lie along one, that with neighbours first; -1: there is none, rows
/// have sums in common, or one sum alone runs along it, which reads each row once as it is.
int row_of(const ir::Program& program);

/// The program with that index in place of all that sums run over: it counts vectors of `lanes` neighbours, whose lanes
/// are one more index, the last, where there are several. What reads the same of a row is one node then. No program by
/// the rules of the IR, as results and sums have an index in common.
ir::Program along_row(const ir::Program& program, int index, std::int64_t lanes);

}  // namespace ricci::kernel
