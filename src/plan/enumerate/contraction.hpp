// Schedules of contractions, as lists of directives.
#pragma once

#include <optional>
#include <vector>

#include "plan/models/candidate.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

/// For a program that is one contraction (kernel::contraction_of), best first by prediction; none where no schedule of
/// the kernel IR suits it. Pure and thread-safe.
std::vector<Candidate> contraction_candidates(const ir::Program& program, const CpuModel& device);
std::vector<Candidate> contraction_candidates(const ir::Program& program, const GpuModel& device);
/// The first of them, in a part of the time.
std::optional<Candidate> best_contraction(const ir::Program& program, const GpuModel& device);

/// An order of an operand's indices, slowest first, in which a copy of it would be read.
struct OperandOrder {
  ir::NodeId load = -1;
  std::vector<int> indices;
};
/// Orders that may be worth a copy: the best schedule of the operand as it lies would be that much faster if its
/// gathers were of whole vectors and sectors. Whether one is, predictions of both kernels say.
std::vector<OperandOrder> operand_orders(const ir::Program& program, const GpuModel& device);

/// For a program that is a group of contractions (kernel::group_of): sections of directives, best first by prediction.
std::vector<Candidate> group_candidates(const ir::Program& program, const CpuModel& device);

}  // namespace ricci::plan
