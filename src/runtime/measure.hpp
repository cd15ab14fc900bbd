// Times kernels of one step against each other, in memory of its own.
#pragma once

#include <vector>

#include "plan/tuning/candidate_timing.hpp"
#include "runtime/plan_impl.hpp"

namespace ricci::runtime {

/// Runs ready steps of one program on the plan's device, warm and taking turns, and returns their times, the winner
/// first. Buffers are as large as the program's and hold ordinary numbers; parameters are 1. The caller's tensors are
/// not touched, and no stream of the caller waits.
///   plan  its target, threads, pool and executor are used
/// Throws DeviceError when there is no memory for the buffers, or the device fails.
std::vector<plan::Timing> time_steps(const Plan::Impl& plan, std::vector<Plan::Impl::Step> steps);

}  // namespace ricci::runtime
