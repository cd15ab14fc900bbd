// Chains: two products one after the other, of which the second one's rows are sums along what the first one makes. In
// attention scores are products of queries and keys, and results are products of what rows of scores become and values.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/sequence.hpp"
#include "kernel/affine.hpp"
#include "kernel/value.hpp"

namespace ricci::kernel {

constexpr std::size_t nth(int k) { return static_cast<std::size_t>(k); }

/// scores = sum over the depth of x * y, and along the columns of these: a maximum M of t, and sums of terms that are
/// exp(t - M) times what does not depend on M. One of these sums is a product, of weights by values.
///
/// So M may be the largest t so far: where it grows, all sums are multiplied by exp(M before - M now). Terms that are
/// left out have t = -infinity.
struct Chain {
  /// The program with one index for all that runs along columns, and one for all depths. No program by the rules of
  /// the IR, as rows are not (along_row).
  ir::Program program;
  int rows = -1, columns = -1, depth = -1, values = -1;  ///< indices of it; values: of the second product's columns
  std::vector<int> batch;                                ///< all other free indices
  ir::NodeId scores = -1, x = -1, y = -1;                ///< the sum; loads
  ir::NodeId maximum = -1, least = -1;                   ///< M; t, of which it is the largest
  ir::NodeId product = -1, weights = -1, v = -1;         ///< the second sum; its first factor; a load of a half type
  int parts = 1;  ///< of that type, of which each of these factors is the sum: 1 where it is of that type itself
  std::vector<ir::NodeId> sums;  ///< others along the columns
  ir::NodeId exponential = -1;   ///< exp(t - M)
  std::optional<double> factor;  ///< where t is the scores times a positive number, and M not rounded
  /// Which elements there are, as affine expressions of the indices' numbers that lie below; all of them have to hold.
  std::vector<Condition> when;
  std::vector<std::pair<ir::NodeId, ir::NodeId>> decided;  ///< selections that they decide, and what these are

  const ir::Node& node(ir::NodeId id) const { return program.nodes[static_cast<std::size_t>(id)]; }
  /// What is summed: without the guard that `when` says.
  ir::NodeId term(ir::NodeId reduce) const;
  /// The product and the others along the columns.
  std::vector<ir::NodeId> all_sums() const;
};

/// The rule that keeps a program from being a chain; empty: it is one.
std::string chain_fault(const ir::Program& program);
std::optional<Chain> chain_of(const ir::Program& program);

/// The sequence with what a step reads computed in it as far as that makes a chain of it; nothing where it does not.
std::optional<ir::Sequence> chained(const ir::Sequence& sequence, std::size_t step);

}  // namespace ricci::kernel
