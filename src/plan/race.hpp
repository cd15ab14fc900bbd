// Which of several is fastest, from samples of each: taking turns, and giving up early on those far behind.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace ricci::plan {

struct RaceRules {
  int rounds = 15;  ///< samples of each that stays to the end
  int least = 3;    ///< before one is given up for its samples
  int enough = 7;   ///< for a median that one slow run, or two, do not move: made however long they take
  double hopeless =
      3;  ///< given up after two runs, which count no further: each took so many times the fastest's first
  double behind = 1.1;    ///< given up: its best sample takes so many times the leader's median
  double tie = 0.001;     ///< within this share of the fastest median the one named first wins
  double limit_us = 1e6;  ///< of samples in all; no round begins after that, but `enough` of them are made
};

struct Timing {
  std::size_t entrant = 0;
  double us = 0;    ///< median of its samples; its better first run where there are none
  int samples = 0;  ///< 0: given up after the first two runs
};

/// Times entrants 0 .. count-1, of which there is at least one, and returns the winner, then the others by time.
///   sample(k)  runs k, some times over, and returns microseconds per run. What it throws comes out
/// The first round warms up. After it the entrants take turns, in one direction and then in the other, so that none
/// always runs on what the same other one leaves in the caches.
std::vector<Timing> race(std::size_t count, const std::function<double(std::size_t)>& sample,
                         const RaceRules& rules = {});

}  // namespace ricci::plan
