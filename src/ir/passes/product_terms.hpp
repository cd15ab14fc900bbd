// What a statement that adds up products is made of: the products, and what is done with their sum.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/passes/index_uses.hpp"
#include "ir/sequence.hpp"

namespace ricci::ir {

/// Nodes of the program, and behind them partial products: node count + k is the k-th.
using Nodes = std::vector<NodeId>;

/// sum(over : first * second); both sides are products of what is listed.
struct FactoredSum {
  Nodes first, second;
  std::vector<int> over;
};

/// A product of some factors, which a step of its own leaves in workspace.
struct PartialProduct {
  FactoredSum product;
  NodeId partner = -1;  ///< what it is multiplied with next; -1: nothing
};

/// What something is multiplied by before it is added.
struct TermWeight {
  bool negative = false;
  Nodes outside;
  std::optional<Scalar> multiple = {};  ///< in place of what is outside, and of the sign
};

struct ProductTerm {
  TermWeight weight;
  FactoredSum product;
};

/// What is added to the products, without a sum.
struct ProductAddend {
  TermWeight weight;
  NodeId node = -1;
  std::vector<int> renamed = {};  ///< per index, the one in its place where a partial product is read; none: itself
};

/// Whether what is computed depends on the tensor that the statement writes: in the place that is written, or others.
enum class ResultRead : std::uint8_t { none, there, elsewhere };

/// A statement as what is done with the sum of `terms` and `addends`, which stands at `root`.
struct ProductTerms {
  NodeId root = -1;
  DType type = DType::f64;
  std::vector<ProductTerm> terms;
  std::vector<ProductAddend> addends;
  std::vector<PartialProduct> partial;  ///< each before those that it is a factor of
  Indices free;                         ///< of the products
  bool changed = false;                 ///< whether any of it is another step
  bool apart = false;                   ///< whether the sum of all products is a step before what is done with it
  bool scaled_last = false;             ///< whether the only product is scaled then, by what is no number

  // per node, and per partial product
  std::vector<Indices> uses;             ///< of values that sums do not run over
  std::vector<ResultRead> reads_result;  ///< of the nodes alone
  Nodes loads;                           ///< the largest that it is made of; -1: none

  bool is_partial(NodeId id) const { return id >= static_cast<NodeId>(reads_result.size()); }
  std::size_t number(NodeId id) const { return static_cast<std::size_t>(id) - reads_result.size(); }
};

/// The parts of a step's statement; nothing where it is no sum of products, or where tiles have no use for it. Factors
/// of which no two have all indices are multiplied pair by pair, in the order that takes the least time.
std::optional<ProductTerms> product_terms(const Step& step);

/// The same with products that differ in the names of indices alone computed once, and added as often as they stand
/// there; nothing where there are none.
std::optional<ProductTerms> shared(const Step& step, const ProductTerms& terms);

/// Whether all summed indices are of both factors, and rows, columns and depth have enough values for tiles.
bool reuses(const Program& program, const Indices& first, const Indices& second, const std::vector<int>& over);

/// Whether factors are one tensor, perhaps converted and conjugated, or one partial product.
bool is_load(const Step& step, const ProductTerms& terms, const Nodes& factors);

}  // namespace ricci::ir
