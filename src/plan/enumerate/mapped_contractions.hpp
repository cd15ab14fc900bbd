// Contractions on a GPU whose operands are staged by tensor maps.
#pragma once

#include <vector>

#include "plan/models/candidate.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

/// The candidates of a contraction, best first, each of the first ones with the same by tensor maps behind it where its
/// operands can be staged so. They are predicted to take as long, as none of them has been timed: they are listed for
/// plans that are measured, and chosen by no model.
std::vector<Candidate> with_maps(const ir::Program& program, const GpuModel& device, std::vector<Candidate> list);

}  // namespace ricci::plan
