// The predicted time of a matrix product by a library.
#pragma once

#include <vector>

#include "kernel/matrix_product.hpp"
#include "plan/models/candidate.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

/// Whether the libraries that a device's plans may call have that product: types, and extents of 32 bits.
bool library_has(const kernel::MatrixProduct& product, const CpuModel& device);
bool library_has(const kernel::MatrixProduct& product, const GpuModel& device);

/// Microseconds, and the parts they are made of, which are appended: arithmetic, memory, and the start of each call.
double library_us(const kernel::MatrixProduct& product, const CpuModel& device, std::vector<TimePart>& parts);
double library_us(const kernel::MatrixProduct& product, const GpuModel& device, std::vector<TimePart>& parts);

}  // namespace ricci::plan
