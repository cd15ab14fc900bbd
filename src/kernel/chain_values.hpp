// Values of a chain's nodes at one element.
#pragma once

#include <map>
#include <vector>

#include "kernel/chain.hpp"
#include "kernel/value.hpp"

namespace ricci::kernel {

class ChainValues {
 public:
  explicit ChainValues(const Chain& chain) : chain_(chain), places_(chain.program.indices.size()) {}

 protected:
  Affine offset(const ir::Affine& affine) const;
  /// Whether a node's value is of an index, but for what is known.
  bool uses(ir::NodeId id, int index) const;
  /// A node's value where rows, columns and what is known are.
  Value value(ir::NodeId id) const;

  static Value number(double value);
  static Value power_of_two(Value exponent);
  static Value binary(ir::OpCode op, Value x, Value y);  ///< in f32
  static Value greatest(Value x, Value y);
  static Value pair_of(DType type, Value x, Value y);
  /// `otherwise` where a maximum is that of no element.
  static Value unless_none(Value maximum, Value otherwise, Value value);

  const Chain& chain_;
  std::vector<Affine> places_;  ///< per index, where its value is wanted
  std::map<ir::NodeId, Value> known_;
};

}  // namespace ricci::kernel
