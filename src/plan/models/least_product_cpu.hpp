// What a product on a CPU takes at least, before anything is known of its schedule or of where its tensors lie.
#pragma once

#include <cstdint>

#include "plan/models/device_model.hpp"

namespace ricci::plan {

/// Microseconds of all threads for a matrix of so many rows and columns that sums so many terms each, of which no index
/// is one of both operands and the result: no register tiles, blocks or strides are predicted to take less
/// (gett::predicted_us). They multiply, write sums, and read or pack each element of both operands once.
///   terms  that an instruction of dot products sums
double least_product_us(std::int64_t rows, std::int64_t columns, std::int64_t depth, DType type, const CpuModel& device,
                        std::int64_t terms = 1);

}  // namespace ricci::plan
