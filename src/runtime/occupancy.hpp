// Whether kernels on a GPU have room for as many blocks as their predictions count with.
#pragma once

#include <string>
#include <vector>

#include "ricci/plan.hpp"

namespace ricci::runtime {

/// One kernel of a plan.
struct KernelRoom {
  std::string schedule;
  double predicted_us = 0;
  int threads = 0, registers = 0, spill_bytes = 0, shared_bytes = 0;
  double predicted = 0;  ///< blocks of a multiprocessor at once; 0: its prediction does not count them
  int compiled = 0;      ///< the same by what the compiler gave it
  bool multiplies = false;
};

/// The generated kernels of a plan for a GPU, which need not be there.
std::vector<KernelRoom> rooms_of(const Plan& plan);

}  // namespace ricci::runtime
