// What bounds the kernels of a sequence, before their schedules are known: for orders of products, of which a search
// looks at thousands.
#pragma once

#include "plan/models/device_model.hpp"
#include "ricci/tensor.hpp"

namespace ricci::plan {

struct StepRates {
  double flops_per_us = 0;       ///< of products and sums of reals, by kernels as this library makes them
  double bytes_per_us = 0;       ///< read and written
  double start_us = 0;           ///< of a kernel, however small
  double nest_flops_per_us = 0;  ///< of products of three factors and more, by the plain schedules
  double term_us = 0;            ///< of each term of such a sum by itself
};

/// Of products of this type; of complex numbers, in operations on their parts.
StepRates step_rates(const GpuModel& device, DType type);
StepRates step_rates(const CpuModel& device, DType type);

}  // namespace ricci::plan
