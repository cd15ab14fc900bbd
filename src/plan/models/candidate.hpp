// A schedule with its counted traffic and predicted time.
#pragma once

#include "kernel/schedule.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {

struct Candidate {
  kernel::Schedule schedule;
  Traffic traffic;
  double predicted_us = 0;
  bool baseline = false;  ///< for comparison only: listed last, chosen only by name
};

}  // namespace ricci::plan
