// A BLAS library's matrix product: what arithmetic allows on a CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ricci/tensor.hpp"

namespace ricci::tools {

/// C = A * B, row-major, of n x n f32 or f64 elements in memory of its own, by the library's cblas_sgemm or cblas_dgemm
/// on as many threads as the library takes. Throws IoError where the file cannot be opened or has no such function.
std::function<void()> open_blas_product(const std::string& file, DType type, std::int64_t n);

}  // namespace ricci::tools
