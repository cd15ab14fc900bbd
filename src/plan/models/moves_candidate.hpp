// A candidate that only moves elements while it is worked out: numbers to count with, which become directives once.
#pragma once

#include <string>
#include <utility>

#include "kernel/permute/moves.hpp"
#include "plan/models/candidate.hpp"

namespace ricci::plan {

struct MovesCandidate {
  std::string name;
  kernel::Moves moves;
  Traffic traffic;
  double predicted_us = 0;
};

inline Candidate candidate_of(MovesCandidate one, const ir::Program& program) {
  Candidate candidate;
  candidate.schedule = {std::move(one.name), kernel::directives_of(one.moves, program)};
  candidate.traffic = one.traffic;
  candidate.predicted_us = one.predicted_us;
  return candidate;
}

}  // namespace ricci::plan
