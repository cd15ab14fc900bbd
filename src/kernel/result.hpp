// What is written where a sum is finished, as values of a kernel.
#pragma once

#include <utility>
#include <vector>

#include "kernel/contraction.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

class Result {
 public:
  ///   indices  the value of each index of the program, over the kernel's loops
  ///   sum      the node that is computed in the accumulator
  Result(const Kernel& kernel, const ir::Program& program, std::vector<Affine> indices, ir::NodeId sum)
      : kernel_(kernel), program_(program), indices_(std::move(indices)), sum_(sum) {}

  /// The element of the program's only statement.
  Access element() const;
  /// A node of the program, elementwise but for the sum, for which `accumulator` stands.
  Value value(ir::NodeId id, int accumulator) const;
  /// What the element becomes by a further part of a sum in that node: the part goes through the factor that the whole
  /// sum goes through. Throws PlanError where the node is not linear in it.
  Value added(ir::NodeId id, int accumulator) const;
  /// That part alone; throws likewise.
  Value part(ir::NodeId id, int accumulator) const;
  Value load(Access access) const;
  /// An element and what is added to it.
  Value plus(Access to, Value more) const;
  /// The sum of a group's products, and what is added beside them.
  Value finished(const Group& group, Value sum) const;

 private:
  const ir::Node& node(ir::NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  Access access(int buffer, const ir::Affine& offset) const;

  const Kernel& kernel_;
  const ir::Program& program_;
  std::vector<Affine> indices_;
  ir::NodeId sum_;
};

}  // namespace ricci::kernel
