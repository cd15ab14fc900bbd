// Contractions on a CPU by kernels of its own behind copies of whole tensors, where these are predicted to pay.
#pragma once

#include <string>
#include <vector>

#include "kernel/directives.hpp"
#include "plan/models/candidate.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

/// Copies in front of a contraction, or behind it, and what all steps take then.
struct CopiedContraction {
  kernel::Directives copies;
  double predicted_us = 0;
};

/// For a program that is one contraction: an operand in another order, both, or the result, one after the other as long
/// as all steps are predicted to take less with one more. Best first; none that takes more than `most_us`. Sums have
/// another order then: whether tensors are copied may not depend on the number of threads, so `device` has one.
/// Pure and thread-safe.
std::vector<CopiedContraction> worthwhile_copies(const ir::Program& program, const CpuModel& device, double most_us);

/// Schedules that begin with these copies, best first by the prediction of all steps together; `most`, at most.
std::vector<Candidate> copied_candidates(const ir::Program& program, const CpuModel& device,
                                         const kernel::Directives& copies, std::size_t most);

}  // namespace ricci::plan
