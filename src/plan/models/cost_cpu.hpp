// The predicted time of moves on a CPU.
#pragma once

#include <string>

#include "plan/models/axes.hpp"
#include "plan/models/device_model.hpp"
#include "plan/models/moves_candidate.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {

using kernel::kLineBytes;

/// Microseconds on all threads, from what both sides touch and how elements are moved. Rates were measured on an AMD
/// EPYC (Zen 5); what counts is how they fall with the length of runs, which is alike on other processors.
double predicted_us(const Sides& sides, const kernel::Moves& moves, const Traffic& traffic, const CpuModel& device);

/// Whether runs of that many bytes in the output begin or end within lines.
bool lines_are_shared(const Sides& sides, std::int64_t run_bytes);

/// Nanoseconds of one thread for one element, its memory aside.
double element_ns(const Sides& sides, const kernel::Moves& moves);

/// What they touch, and how long that is predicted to take.
MovesCandidate priced(const Sides& sides, std::string name, kernel::Moves moves, const CpuModel& device);

}  // namespace ricci::plan
