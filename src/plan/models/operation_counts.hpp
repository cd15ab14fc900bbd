// Operation counts of a program: how often each load and each operation is evaluated per point, and which indices it
// depends on.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"

namespace ricci::plan {

/// A node with its count: it is evaluated `times` per point of the indices it depends on.
struct CountedNode {
  ir::NodeId node = -1;
  double times = 1;           ///< product of the extents of the reductions around it
  std::vector<bool> depends;  ///< per free index
  std::vector<bool> around;   ///< per index: whether a reduction over it encloses this node
};

struct OperationCounts {
  std::vector<bool> free;  ///< per index
  std::vector<CountedNode> loads, operations;
  std::vector<int> order;       ///< free indices, fastest of the first statement's output first
  bool sequential = false;      ///< a statement is a scan or a compaction
  double compulsory_bytes = 0;  ///< of all elements that are accessed, each counted once
};

OperationCounts count_operations(const ir::Program& program);

}  // namespace ricci::plan
