#include "ir/passes/copy_result.hpp"

#include "ir/passes/copy_operand.hpp"

namespace ricci::ir {

Sequence copy_result(const Sequence& sequence, std::size_t step, NodeId reduce, const std::vector<int>& order,
                     std::size_t row) {
  return copy_operand(sequence, step, reduce, order, row, "sum");
}

}  // namespace ricci::ir
