// What a GPU's pipes multiply.
#pragma once

#include "kernel/atoms.hpp"

namespace ricci::plan {

/// Multiply-adds of a multiprocessor in a cycle, as kernels sustain them.
///   atom   of a tensor core; null: fused multiply-adds
///   sums   their type; of complex numbers a multiply-add is four real ones
///   parts  of each factor, of tf32
double pipe_rate(int sm, const kernel::Atom* atom, DType sums, int parts);

}  // namespace ricci::plan
