// Multiply-adds of one thread of the host that measure what its vector units do.
#pragma once

#include <cstdint>

namespace ricci::runtime {

/// Runs so many rounds of independent multiply-adds in f64, by fused ones of 64 or 32 bytes, or for 16 by products and
/// sums that every x86-64 has; on other processors by what compilers make of them. The target has to have such vectors.
/// Returns operations, products and sums counted on their own.
double multiply_add(int vector_bytes, std::int64_t rounds);

}  // namespace ricci::runtime
