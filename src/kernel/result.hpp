// What is written where a sum is finished, as values of a kernel.
#pragma once

#include <optional>
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
  /// The same with values that are known of some nodes.
  using Known = std::vector<std::pair<ir::NodeId, Value>>;
  Value value(ir::NodeId id, const Known& known) const;
  /// Of a sum in several parts that pass through the element, what a part makes of it. Where the node is linear in the
  /// sum, the first part sets it to the node's value, and others add what the node is without that which is added
  /// beside the sum. Else the element holds the parts' sum, and the last part sets it to the node's value.
  struct Parts {
    Value first, further;
    std::optional<Value> last = {};  ///< where it is not as those before it
  };
  /// Throws PlanError where has_parts() is false.
  Parts parts(ir::NodeId id, int accumulator) const;
  /// Of a node that is the element plus multiples of the sum, these; throws PlanError where it is more than that.
  Value addition(ir::NodeId id, int accumulator) const;
  Value load(Access access) const;
  /// An element and what is added to it, or combined with it as the sum is.
  Value plus(Access to, Value more) const;
  /// The sum of a group's products, and what is added beside them.
  Value finished(const Group& group, Value sum) const;

 private:
  const ir::Node& node(ir::NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  Access access(int buffer, const ir::Affine& offset) const;
  Value part(ir::NodeId id, int accumulator) const;

  const Kernel& kernel_;
  const ir::Program& program_;
  std::vector<Affine> indices_;
  ir::NodeId sum_;
};

/// Whether parts of a sum may pass through elements of the result of a program's only statement: the sum has their
/// type, and the statement's value is linear in it or reads none of them.
bool has_parts(const ir::Program& program, ir::NodeId sum);

}  // namespace ricci::kernel
