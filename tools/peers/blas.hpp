// A library's matrix product: what arithmetic allows on a device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ricci/tensor.hpp"

namespace ricci::tools {

/// C = A * B, row-major, of n x n f32, f64, c64 or c128 elements in memory of its own, by the library's cblas_*gemm on
/// as many threads as the library takes. Throws IoError where the file cannot be opened or has no such function,
/// ShapeError for another type.
std::function<void()> open_blas_product(const std::string& file, DType type, std::int64_t n);

/// The same by cuBLAS on the current GPU, queued on the default stream, between n x n matrices there; f16 and bf16 with
/// sums of f32, f32 as tf32 where `precision` says so (tf32x3 counts as f32: cuBLAS has no such product). Throws
/// DeviceError too.
std::function<void()> open_cublas_product(const std::string& file, DType type, Precision precision, std::int64_t n,
                                          const void* a, const void* b, void* c);

}  // namespace ricci::tools
