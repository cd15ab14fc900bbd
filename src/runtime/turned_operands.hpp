// Copies of operands of sums that are read across, on a CPU.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/passes/split.hpp"
#include "ir/sequence.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::runtime {

/// The sequence with operands of plain sums copied into the order of another one, as of `ijk,kji->`, where one thread
/// is predicted to take less time then; nothing where none is. The same for any number of threads.
///   limits           of the loops that are split afterwards
///   workspace_limit  that all steps have to keep, -1: none
std::optional<ir::Sequence> turned(const ir::Sequence& lowered, const plan::CpuModel& device,
                                   const ir::SplitLimits& limits, std::int64_t workspace_limit);

}  // namespace ricci::runtime
