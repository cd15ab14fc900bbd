// Timing of candidates against each other: samples in turns, slow candidates are dropped early.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace ricci::plan {

struct TimingRules {
  int rounds = 15;        ///< samples of each candidate that is not dropped
  int least = 3;          ///< samples before a candidate may be dropped
  int enough = 7;         ///< samples that are taken whatever the time limit, for a stable median
  double hopeless = 3;    ///< dropped after two warm-up runs that both took this many times the fastest's
  double behind = 1.1;    ///< dropped when its best sample is this many times the leader's median
  double tie = 0.001;     ///< medians within this share of the fastest count as equal; the first in order wins
  double limit_us = 1e6;  ///< time for all samples; no round starts later, except for the first `enough`
};

struct Timing {
  std::size_t entrant = 0;
  double us = 0;    ///< median of its samples; its better first run where there are none
  int samples = 0;  ///< 0: dropped after the warm-up
};

/// Times entrants 0 .. count-1, of which there is at least one, and returns the winner, then the others by time.
///   sample(k)  runs candidate k several times and returns microseconds per run; exceptions propagate
/// The first round warms up. Later rounds alternate their direction, so that no candidate always runs on the caches
/// that the same other one left.
std::vector<Timing> time_candidates(std::size_t count, const std::function<double(std::size_t)>& sample,
                                    const TimingRules& rules = {});

}  // namespace ricci::plan
