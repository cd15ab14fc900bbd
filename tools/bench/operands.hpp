// What the tensors of a bench hold: values that every type has exactly, the same in every run.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "ricci/tensor.hpp"

namespace ricci::tools {

/// Element k of a floating tensor, between 1/2 and 3/2 in both parts, so that no sum vanishes, and exact in the type;
/// of a tensor of bytes or of 32-bit integers, a small whole number.
std::complex<double> value_at(DType type, std::int64_t k);

/// A tensor's elements: value_at of a floating type, random bits of 64-bit integers, as of sets that few pairs of pass
/// a filter, and small whole numbers of the other types.
std::vector<unsigned char> contents(DType type, std::int64_t elements);

/// One element of a floating type, or of i32.
std::complex<double> element(DType type, const unsigned char* bytes);

}  // namespace ricci::tools
