// What the parts of a program are by the roles that they play, whatever they are called and in whatever order they
// stand.
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

/// Chains: operations of one kind whose operands may be combined in any order. What is exact commutes where swapping
/// two operands changes no bit; integers, and floats whose rounding is free, associate as well.
class Chains {
 public:
  explicit Chains(const Program& program);

  /// Whether the node is a link inside of the chain of its only user.
  bool inner(NodeId id) const { return inner_[static_cast<std::size_t>(id)]; }
  /// The operands of the chain that ends in `root`, left to right; none when the node ends no chain.
  std::vector<Term> terms(NodeId root) const;

 private:
  void collect(NodeId id, bool inverse, std::vector<Term>& terms) const;

  const Program& program_;
  std::vector<bool> inner_;
};

/// A number for every index, buffer and parameter: equal numbers are equal roles in programs that say the same. Within
/// one program they are unique: where several parts play one role, so that they could be exchanged without changing the
/// program, they are told apart in the order in which they stand. Parts that nothing uses are not told apart.
struct Roles {
  std::vector<std::uint64_t> index, buffer, param;
  std::vector<std::uint64_t> node;  ///< what the node computes; 0 inside of chains
};

Roles roles(const Program& program);

}  // namespace ricci::ir
