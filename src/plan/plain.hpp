// The plain schedule, which any program has: free indices over threads or loops, reductions serial in each worker, a
// few values of some indices together in registers so that they share what they read.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace ricci::plan {

/// Whether the families that move elements (tiles staged, transposed, copied) can schedule the program: one statement
/// along all indices, that combines a load with what it overwrites.
bool moves(const ir::Program& program);

std::vector<Candidate> plain_candidates(const ir::Program& program, const GpuFigures& figures);
std::vector<Candidate> plain_candidates(const ir::Program& program, const CpuFigures& figures);

}  // namespace ricci::plan
