// Contractions on a GPU whose operands are staged by tensor maps.
#pragma once

#include <string_view>
#include <vector>

#include "plan/models/candidate.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

/// The candidates of a contraction, best first, and the first ones with the same by tensor maps where operands can be
/// staged so. Products of warp groups, of f64 in tensor cores and by multiply-adds are predicted to take less time by
/// maps; others to take as long: these stand behind what they are like, for plans that are measured.
std::vector<Candidate> with_maps(const ir::Program& program, const GpuModel& device, std::vector<Candidate> list);

/// Whether they may take less time of a candidate with such counts, whose schedule need not be known: by most of them
/// none is.
bool may_gain_by_maps(const ContractionCounts& counts, const GpuModel& device, std::string_view atom);

/// The best candidate of a contraction, by tensor maps where these are predicted to take less time.
Candidate by_maps(const ir::Program& program, const GpuModel& device, Candidate best);

/// What products by an atom take by them at least, of what they take without; 1 where no operand can be staged so.
double least_by_maps(const ir::Program& program, const GpuModel& device, std::string_view atom);

}  // namespace ricci::plan
