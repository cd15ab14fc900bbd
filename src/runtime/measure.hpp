// Times ways to compute one step against each other, in memory of its own.
#pragma once

#include <vector>

#include "plan/tuning/candidate_timing.hpp"
#include "runtime/plan_impl.hpp"

namespace ricci::runtime {

/// One way: a sequence whose first storages are the program's buffers and whose others are workspace, and its steps,
/// ready to run, with storages and parameters of that sequence.
struct __attribute__((visibility("hidden"))) Entrant {
  ir::Sequence sequence;
  std::vector<Plan::Impl::Step> steps;
};

/// Runs entrants of one program on the plan's device, warm and taking turns, and returns their times, the winner
/// first. Buffers are as large as the program's and hold ordinary numbers; parameters are 1. The caller's tensors are
/// not touched, and no stream of the caller waits.
///   program  what all of them compute
///   plan     its target, threads, pool and executor are used
/// Throws DeviceError when there is no memory for the buffers, or the device fails.
std::vector<plan::Timing> time_steps(const Plan::Impl& plan, const ir::Program& program, std::vector<Entrant> entrants);

}  // namespace ricci::runtime
