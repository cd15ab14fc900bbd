// What a sum of products is as a matrix product: which of its indices are rows, columns, depth or batch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program.hpp"

namespace ricci::kernel {

enum class Role : std::uint8_t {
  rows,       ///< M: of the first operand and the result
  columns,    ///< N: of the second operand and the result
  depth,      ///< K: summed over; of both operands
  batch,      ///< of both operands and the result
  broadcast,  ///< of the result alone
  summed,     ///< summed over; of one operand alone
  other,      ///< of neither: an index of other nodes of the program
};

/// One factor of the product: a load, perhaps rounded to a half type, converted to the type of the product, perhaps
/// conjugated.
struct Factor {
  ir::NodeId load = -1;
  bool conj = false;
  std::optional<DType> rounded = {};
  ir::NodeId value = -1;  ///< the load with all of that
};

/// sum over the depth of first * second; without a depth the product alone, an outer product. Or of another term: any
/// expression of the two, (first - second)^2 or first + second, which any reduction combines.
struct Contraction {
  ir::NodeId reduce = -1;  ///< the sum, or the outer product
  Factor first, second;
  ir::NodeId term = -1;                  ///< -1: the product
  ir::OpCode combine = ir::OpCode::add;  ///< what combines terms
  bool keeps_zeros = true;               ///< whether the term of two zeros leaves what it is combined with
  bool negative = false;                 ///< of a group: it is subtracted
  DType type = DType::f64;               ///< in which products and sums are computed
  std::vector<Role> role;                ///< per index of the program

  bool is_product() const { return term < 0; }
  std::vector<int> indices(Role which) const;
  /// Product of the extents of the indices of a role.
  std::int64_t extent(const ir::Program& program, Role which) const;
};

/// The roles of a reduction, if it is a sum of products of two loads, in an order that is free, whose indices are each
/// of some role above; or combines terms of two loads, of which each has an index of its own, and both all that it runs
/// over. Nothing for any other reduction. Pure.
std::optional<Contraction> contraction_of(const ir::Program& program, ir::NodeId reduce);

/// That of a program's only statement, whose value holds one reduction and, around it, elementwise operations alone. Or
/// an outer product: without a reduction, the only product of two loads that each have an index of their own.
std::optional<Contraction> contraction_of(const ir::Program& program);

/// Several contractions whose sums a statement adds up, in any order, and what it adds beside them.
struct Group {
  struct Addend {
    bool negative = false;
    ir::NodeId node = -1;  ///< elementwise
  };
  std::vector<Contraction> products;  ///< in the order of the program's nodes
  std::vector<Addend> addends;
};

/// The group of a program's only statement, where its value is a sum of at least two products, each summed over indices
/// of its own, with no others in them than those of the result, and of elementwise values. Pure.
std::optional<Group> group_of(const ir::Program& program);

/// Operations for each pair of elements, of those that are counted (ir::is_counted), with what combines them; a product
/// is one with its sum: 1 of a sum of products. On a GPU operations take absolute values of their operands.
int operations_of(const Contraction& contraction, const ir::Program& program, bool gpu);

/// Whether functions are in its term: exp, and all that takes as long.
bool has_functions(const Contraction& contraction, const ir::Program& program);
/// Whether vectors of a CPU compute its term.
bool has_vectors(const Contraction& contraction, const ir::Program& program);

/// For people: "rows a:64, columns c:48, depth b:100; neighbours in A along b, in B along c, in C along c".
std::string describe(const Contraction& contraction, const ir::Program& program);

}  // namespace ricci::kernel
