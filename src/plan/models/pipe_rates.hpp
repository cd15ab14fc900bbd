// What a GPU's pipes multiply.
#pragma once

#include "kernel/atoms.hpp"

namespace ricci::plan {

/// Multiply-adds of a multiprocessor in a cycle, as kernels sustain them.
///   atom   of a tensor core; null: fused multiply-adds
///   sums   their type; of complex numbers a multiply-add is four real ones
///   parts  of each factor, of tf32
double pipe_rate(int sm, const kernel::Atom* atom, DType sums, int parts);

/// Of multiply-adds in f32, over the rate of one operand whose neighbours lie along the depth: where a lane reads
/// vectors along the depth, its registers of an element meet in banks. A matrix product of 8192 took 22.1, 27.1
/// and 29.5 ms with none, one and two such operands on an H100 (cuBLAS: 21.3), of which products are a part.
double multiply_add_rate(int deep);

}  // namespace ricci::plan
