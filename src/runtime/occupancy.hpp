// The kernels of a plan beside their predictions: on a GPU, whether they have room for as many blocks as these count
// with.
#pragma once

#include <string>
#include <vector>

#include "ricci/plan.hpp"

namespace ricci::runtime {

/// One kernel of a plan.
struct KernelRoom {
  std::string schedule;
  double predicted_us = 0;
  bool multiplies = false;
  // Of a kernel on a GPU.
  int threads = 0, registers = 0, spill_bytes = 0, shared_bytes = 0;
  double predicted = 0;  ///< blocks of a multiprocessor at once; 0: its prediction does not count them
  int compiled = 0;      ///< the same by what the compiler gave it
};

/// The generated kernels of a plan, for this machine's CPU or for a GPU, which need not be there.
std::vector<KernelRoom> rooms_of(const Plan& plan);

}  // namespace ricci::runtime
