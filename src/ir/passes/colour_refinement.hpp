// Colour refinement of programs: numbers for indices, buffers, parameters and nodes that depend on structure alone, not
// on names or order.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"

namespace ricci::ir {

/// One operand of a chain; `inverse` where it is subtracted.
struct Term {
  NodeId node = -1;
  bool inverse = false;
};

/// Chains: nested operations of one kind whose operands may be reordered. Exact programs only swap two operands where
/// that changes no bit; integers, and floats with free rounding, are also re-associated.
class Chains {
 public:
  explicit Chains(const Program& program);

  /// Whether the node is a link inside of the chain of its only user.
  bool inner(NodeId id) const { return inner_[static_cast<std::size_t>(id)]; }
  /// The operands of the chain that ends in `root`, left to right; none when the node ends no chain.
  Few<Term, 8> terms(NodeId root) const;

 private:
  void collect(NodeId root, Few<Term, 8>& terms) const;

  const Program& program_;
  Few<bool> inner_;
};

/// A colour for every index, buffer and parameter: the same in programs that differ only in names and order. Unique
/// within one program: symmetric parts, which can be exchanged without changing the program, are individualised in
/// their order. Unused parts may share a colour.
struct Colours {
  std::vector<std::uint64_t> index, buffer, param;
  std::vector<std::uint64_t> node;  ///< what the node computes; 0 inside of chains
};

Colours colours(const Program& program);

}  // namespace ricci::ir
