// What a schedule is predicted to cost on a GPU.
#pragma once

#include "ir/program.hpp"
#include "plan/axes.hpp"
#include "plan/device.hpp"
#include "plan/plan.hpp"

namespace ricci::plan {

/// Fills in the candidate's traffic and its predicted time. Pure and thread-safe.
///   sample_warps  how many warps of either direction are followed through shared memory; 0: the layout has not been
///                 searched yet, and a usual number of conflicts is assumed
void predict(Candidate& candidate, const ir::Program& program, const Sides& sides, const GpuFigures& figures,
             int sample_warps);

}  // namespace ricci::plan
