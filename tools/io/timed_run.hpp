// A result of `ricci-bench contract` read again: limits of its device, and what was timed there.
#pragma once

#include <map>
#include <string>

#include "ricci/runtime.hpp"

namespace ricci::tools {

struct TimedRun {
  struct Case {
    std::string plan;
    double ms = 0;
    double copy_GBs = 0;                  ///< of a copy of as many bytes, in the same run; 0: not named
    std::map<std::string, double> peers;  ///< milliseconds that others took, by name
  };
  std::string set, dtype, device;
  TargetLimits limits;     ///< multiprocessors and clock where the run names them
  double product_TFs = 0;  ///< of a large matrix product
  std::map<std::string, Case> cases;
};

/// Throws IoError where the file is no such result.
TimedRun read_timed_run(const std::string& file);

}  // namespace ricci::tools
