// From a program to schedules: candidates, what each is predicted to cost, and the choice.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "ir/program.hpp"
#include "kernel/schedule.hpp"
#include "plan/models/candidate.hpp"
#include "plan/models/device_model.hpp"
#include "plan/models/traffic.hpp"
#include "plan/tuning/tuning.hpp"

namespace ricci::plan {

/// All candidates for a program with points, best first by prediction. At least one: the plain
/// schedule.
/// Pure and thread-safe. Source of the families: cuTT (Hynninen and Lyakh, arXiv:1705.01598).
///   wanted  a candidate that will be used whatever its prediction: it gets the search for a layout without bank
///   conflicts
///           that otherwise only the leaders get
std::vector<Candidate> candidates(const ir::Program& program, const GpuModel& device, const std::string& wanted = {});
std::vector<Candidate> candidates(const ir::Program& program, const CpuModel& device);

class CutTiles;

/// The first of candidates(program, device), in a part of the time: what cannot be the first is not worked out.
///   bound_us  of predicted times that are of use: one that takes as long or longer need not be the first, nor have a
///             schedule
Candidate best_candidate(const ir::Program& program, const GpuModel& device,
                         double bound_us = std::numeric_limits<double>::infinity());
Candidate best_candidate(const ir::Program& program, const CpuModel& device);
/// The same while a plan is made, for as long as the device's model stays where it is.
///   known  what programs of the same plan share
WeighedCandidate weighed_candidate(const ir::Program& program, const GpuModel& device, double bound_us,
                                   CutTiles& known);

/// What it is predicted to take on one thread.
struct AloneTime {
  double us = 0;
  bool tiles = false;  ///< by register tiles
};
AloneTime time_alone(const ir::Program& program, const CpuModel& device);

/// The candidate of that name, or the first for an empty name. Throws PlanError, listing the names, when there is none.
const Candidate& choose(const std::vector<Candidate>& list, const std::string& name);

/// Names of at most `count` candidates of a list that are worth timing, the model's favourite first and none that is
/// written; of several the best of a library's products, if there are such, among them. A third of them are kept for
/// those that hold what they stage elsewhere than the favourite does, or read it in other pieces (vectors for
/// rectangles), where the model sees them within a third of it: there it errs most.
std::vector<std::string> entrants(const std::vector<Candidate>& list, int count);

/// Why a schedule was taken.
enum class Reason {
  estimated,  ///< the least predicted time
  named,      ///< asked for by its name
  tuned,      ///< the fastest when they were timed, some time ago
  measured,   ///< the fastest of those timed for this plan
};
const char* name(Reason reason) noexcept;  ///< "estimated", ...

/// What a candidate is bound by, or what it moves.
std::string bounds(const Candidate& candidate);

/// A table of candidates, best prediction first, and why one was taken.
///   precision  of the program's products
///   tuning  what was measured for them, or null
std::string explain(const std::vector<Candidate>& list, const Candidate& chosen, const std::string& device,
                    Reason reason, Precision precision = Precision::operands, const Tuning* tuning = nullptr);

}  // namespace ricci::plan
