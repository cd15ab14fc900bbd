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
///   all  whether those are wanted, too, that take longer than the first, which is found in a part of the time
std::vector<CopiedContraction> worthwhile_copies(const ir::Program& program, const CpuModel& device, double most_us,
                                                 bool all);

/// Schedules that begin with these copies, best first by the prediction of all steps together; `most`, at most.
std::vector<Candidate> copied_candidates(const ir::Program& program, const CpuModel& device,
                                         const kernel::Directives& copies, std::size_t most);

/// A contraction's schedules, best first, and register tiles of copied tensors: in front of them where these save
/// enough of what the best takes on one thread, else where their predictions belong behind the first.
///   best_alone_us  what the best takes on one thread
///   most_tiles     of each set of copies; 1: the first of the list alone counts
std::vector<Candidate> with_copies(std::vector<Candidate> list, const ir::Program& program, const CpuModel& device,
                                   double best_alone_us, std::size_t most_tiles);

}  // namespace ricci::plan
