#include "ir/program.hpp"

#include <limits>

namespace ricci::ir {

std::int64_t Program::points() const noexcept {
  std::int64_t product = 1;
  for (const auto& index : indices) product *= index.extent;
  return product;
}

int Program::find_load(int buffer) const noexcept {
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    if (nodes[id].kind == NodeKind::load && nodes[id].source == buffer) return static_cast<int>(id);
  }
  return -1;
}

std::vector<bool> Program::free_indices() const {
  std::vector<bool> free(indices.size(), true);
  for (const auto& node : nodes) {
    for (const int q : node.over) free[static_cast<std::size_t>(q)] = false;
  }
  return free;
}

int operand_count(const Node& node) noexcept {
  switch (node.kind) {
    case NodeKind::load:
    case NodeKind::param:
    case NodeKind::constant:
    case NodeKind::index:
      return 0;
    case NodeKind::reduce:
      return 1;
    case NodeKind::scan:
      return node.operand[1] < 0 ? 1 : 2;
    case NodeKind::guard:
      return 2;
    case NodeKind::compact:
      return 3;
    case NodeKind::op:
      break;
  }
  switch (node.op) {
    case OpCode::select:
      return 3;
    case OpCode::neg:
    case OpCode::conj:
    case OpCode::cast:
    case OpCode::absolute:
    case OpCode::sign:
    case OpCode::sqrt:
    case OpCode::cbrt:
    case OpCode::rsqrt:
    case OpCode::exp:
    case OpCode::log:
    case OpCode::sin:
    case OpCode::cos:
    case OpCode::tan:
    case OpCode::asin:
    case OpCode::acos:
    case OpCode::atan:
    case OpCode::sinh:
    case OpCode::cosh:
    case OpCode::tanh:
    case OpCode::bit_not:
    case OpCode::popcount:
      return 1;
    default:
      return 2;
  }
}

bool commutes(OpCode op) noexcept {
  switch (op) {
    case OpCode::add:
    case OpCode::mul:
    case OpCode::bit_and:
    case OpCode::bit_or:
    case OpCode::bit_xor:
    case OpCode::equal:
    case OpCode::not_equal:
      return true;
    default:
      return false;  // minimum and maximum choose between +0 and -0 by their order
  }
}

bool associates(OpCode op) noexcept {
  switch (op) {
    case OpCode::add:
    case OpCode::mul:
    case OpCode::minimum:
    case OpCode::maximum:
    case OpCode::bit_and:
    case OpCode::bit_or:
    case OpCode::bit_xor:
      return true;
    default:
      return false;
  }
}

bool exactly_associates(OpCode op, DType type) noexcept {
  return is_integer(type) || op == OpCode::minimum || op == OpCode::maximum;
}

double identity(OpCode op, DType type) noexcept {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_integer(type)) {
    const auto bits = identity_bits(op, type);
    return is_signed(type) ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
  }
  switch (op) {
    case OpCode::mul:
      return 1;
    case OpCode::minimum:
      return kInfinity;
    case OpCode::maximum:
      return -kInfinity;
    default:
      return 0;
  }
}

std::uint64_t identity_bits(OpCode op, DType type) noexcept {
  const auto width = static_cast<unsigned>(8 * size_of(type));
  const auto ones = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  switch (op) {
    case OpCode::mul:
      return 1;
    case OpCode::minimum:
      return is_signed(type) ? ones >> 1 : ones;
    case OpCode::maximum:
      return is_signed(type) ? ~(ones >> 1) : 0;  // sign-extended
    case OpCode::bit_and:
      return is_signed(type) ? ~std::uint64_t{0} : ones;
    default:
      return 0;
  }
}

Bounds bounds(const Affine& affine, const std::vector<Index>& indices) noexcept {
  Bounds result{affine.constant, affine.constant};
  for (std::size_t q = 0; q < indices.size(); ++q) {
    const auto reach = affine.coefficient[q] * (indices[q].extent - 1);
    (reach < 0 ? result.first : result.last) += reach;
  }
  return result;
}

}  // namespace ricci::ir
