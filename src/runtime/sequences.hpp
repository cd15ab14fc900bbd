// Which steps compute a program: as it was lowered, with its sums as products of two tensors each or in parts, or with
// tensors copied.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/sequence.hpp"
#include "runtime/plan_impl.hpp"
#include "runtime/predictions.hpp"

namespace ricci::runtime {

/// The steps that a plan has instead of those that were lowered: long loops split, on a CPU operands of sums copied
/// that are read across, and on a GPU sums of products as products of two tensors each and tensors copied, where all
/// steps are predicted to take less; nothing where there are none.
///   plan         its target, workspace limit and library
///   predictions  of a GPU; null: of a CPU
///   considered   where not null, is given each sequence that was looked at, those that a bound ruled out, too
std::optional<ir::Sequence> steps_instead(const ir::Sequence& lowered, const Plan::Impl& plan, Predictions* predictions,
                                          std::vector<ir::Sequence>* considered = nullptr);

/// What a CPU computes in place of what was lowered: sums of products as products of two tensors each, where those are
/// predicted to take less, in types that kernels multiply fast. The same for any number of threads.
///   workspace_limit  that all steps have to keep, -1: none
ir::Sequence multiplied(ir::Sequence lowered, const plan::CpuModel& device, std::int64_t workspace_limit);

/// The sequences that a GPU's plan was chosen from as a table: of each its steps, their predictions and what bounds
/// them. Empty where nothing multiplies.
std::string sequence_table(const Plan::Impl& plan);

}  // namespace ricci::runtime
