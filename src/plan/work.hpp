// What every worker of a computing schedule does, counted from the program: how often each load and each operation
// happens per point, and which indices it depends on.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"

namespace ricci::plan {

/// One node as work: evaluated `times` per point of the indices it depends on.
struct Job {
  ir::NodeId node = -1;
  double times = 1;           ///< product of the extents of the reductions around it
  std::vector<bool> depends;  ///< per free index
  std::vector<bool> around;   ///< per index: it is run over, around this node
};

struct WorkPerPoint {
  std::vector<bool> free;  ///< per index
  std::vector<Job> loads, operations;
  std::vector<int> order;       ///< free indices, fastest of the first statement's output first
  bool sequential = false;      ///< a statement is a scan or a compaction
  double compulsory_bytes = 0;  ///< every element that is reached, once
};

WorkPerPoint work_per_point(const ir::Program& program);

}  // namespace ricci::plan
