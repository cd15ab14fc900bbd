// How far a result may be from the interpreter's: bit for bit for integers and for programs that are exact, within the
// bound of the arithmetic for floats that may be fused and summed in another order.
#pragma once

#include <string>
#include <vector>

#include "ir/sequence.hpp"

namespace ricci::fuzz {

/// What the storages of a sequence must hold after it ran. Workspace and inputs have empty entries.
struct Expected {
  std::vector<std::vector<unsigned char>> bytes;  ///< per storage: elements [first, last], by the interpreter
  /// Per storage and element: the largest absolute difference; 0 asks for the bits. It is c * eps * (sum of |terms|),
  /// the latter from a twin of the program that has the sum of magnitudes beside every value (products multiply, sums
  /// and differences add, functions take |f'| times it), c being the number of roundings on the longest way to the
  /// result.
  std::vector<std::vector<double>> tolerance;
  bool moves = true;  ///< nothing is computed: the bits of a NaN count too
};

/// storages[k] points at element 0 of storage k and is left as it is; workspace may be null.
Expected expected(const ir::Sequence& sequence, const std::vector<void*>& storages, const std::vector<Scalar>& params);

/// Nothing where every element of the outputs is as expected, NaN being NaN; else the first that is not, in words.
std::string compare(const ir::Sequence& sequence, const Expected& want, const std::vector<void*>& storages);

/// The parts: the twin, whose storages are those of the sequence (complex ones as pairs of reals) and then one of f64
/// for the magnitudes of each output and workspace storage, in that order; and the roundings on the way to each
/// storage. Parameters come as pairs, real and imaginary part, where they are complex.
ir::Sequence twin_of(const ir::Sequence& sequence);
std::vector<double> roundings_of(const ir::Sequence& sequence);

}  // namespace ricci::fuzz
