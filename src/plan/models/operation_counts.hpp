// Operation counts of a program: how often each load and each operation is evaluated per point, and which indices it
// depends on.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/few.hpp"
#include "ir/program.hpp"

namespace ricci::plan {

using IndexSet = ir::Few<bool>;  ///< per index, or per free one

/// A node with its count: it is evaluated `times` per point of the indices it depends on.
struct CountedNode {
  ir::NodeId node = -1;
  double times = 1;     ///< in all loops of reductions in which a kernel has it; where guards stand, if they hold
  IndexSet depends;     ///< per free index
  IndexSet around;      ///< per index: whether a reduction over it encloses this node
  int stepped = -1;     ///< the last index of the outermost reduction around it, along which threads share it; -1: none
  bool summed = false;  ///< a product of real numbers that its sum alone uses: one instruction with the addition
};

struct OperationCounts {
  std::vector<bool> free;  ///< per index
  std::vector<CountedNode> loads, operations;
  std::vector<CountedNode> conversions;   ///< from half types and to them, which are no operations
  std::vector<CountedNode> shared_tests;  ///< predicates of guards that a register tile tests for all its points first
  std::vector<int> order;                 ///< free indices, fastest of the first statement's output first
  bool sequential = false;                ///< a statement is a scan or a compaction
  double compulsory_bytes = 0;            ///< of all elements that are accessed, each counted once
  double written_bytes = 0;               ///< of these, those that statements write
};

/// Times are those of the kernels that kernel::build_program makes, whatever their tiles: values that several users
/// share are computed once where loops and guards allow it, invariants in front of their loops.
///   parts  of the statements, which are computed one after the other; none: all at once
OperationCounts count_operations(const ir::Program& program, const std::vector<std::vector<int>>& parts = {});

}  // namespace ricci::plan
