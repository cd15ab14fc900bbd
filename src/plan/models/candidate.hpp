// A schedule with its counted traffic and predicted time.
#pragma once

#include "kernel/schedule.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {

struct Candidate {
  kernel::Schedule schedule;
  Traffic traffic;
  double predicted_us = 0;
  bool written = false;  ///< given as a text, not proposed: listed last
};

}  // namespace ricci::plan
