// Complex numbers as pairs of reals: how vectors compute with them.
#pragma once

#include <string>

#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// Why vectors of pairs cannot hold the value that is stored `to` neighbours along `lane`; empty where they can: for
/// sums, conjugates and multiples of the accumulator and of complex numbers that lie side by side, all of one type but
/// for the factors.
std::string unpaired(const Kernel& kernel, const Access& to, const Value& value, int accumulator, Var lane);

/// The tree with every complex array as one of reals, twice as long, where vectors hold the sums of complex products;
/// else the tree as it is. A product is then one of real tiles with twice the rows: those of the real parts of its
/// first factor, and those of the imaginary parts. With u = sum Re(a) b and v = sum Im(a) b, both of them vectors of
/// pairs, the sum of a b is u + i v: two fused multiply-adds of whole vectors for each product, and the
/// multiplication by i once for each result. Where both factors have vectors of pairs, Re(a) and Im(a) are each twice
/// in a vector.
Kernel in_pairs(Kernel kernel);

}  // namespace ricci::kernel
