#include "ir/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "ir/axes.hpp"

namespace ricci::ir {
namespace {

struct Operation {
  const char* name;
  int operands;
};

/// In the order of OpCode.
constexpr Operation kOperations[] = {
    {"add", 2},     {"sub", 2},      {"mul", 2},       {"scale", 2},   {"div", 2},   {"neg", 1},        {"conj", 1},
    {"cast", 1},    {"tf32", 1},     {"tf32_rest", 1}, {"real", 1},    {"imag", 1},  {"complex", 2},    {"minimum", 2},
    {"maximum", 2}, {"abs", 1},      {"sign", 1},      {"sqrt", 1},    {"cbrt", 1},  {"rsqrt", 1},      {"exp", 1},
    {"log", 1},     {"log1p", 1},    {"sin", 1},       {"cos", 1},     {"tan", 1},   {"asin", 1},       {"acos", 1},
    {"atan", 1},    {"sinh", 1},     {"cosh", 1},      {"tanh", 1},    {"atan2", 2}, {"hypot", 2},      {"copysign", 2},
    {"pow", 2},     {"mod", 2},      {"and", 2},       {"or", 2},      {"xor", 2},   {"not", 1},        {"shl", 2},
    {"shr", 2},     {"popcount", 1}, {"equal", 2},     {"unequal", 2}, {"less", 2},  {"less_equal", 2}, {"select", 3},
};
static_assert(std::size(kOperations) == static_cast<std::size_t>(OpCode::select) + 1);

}  // namespace

namespace {

/// A product of extents, as far as it is a number of the type: steps that were joined have many indices.
class Points {
 public:
  void add(std::int64_t extent) {
    none_ = none_ || extent == 0;
    beyond_ = beyond_ || __builtin_mul_overflow(product_, extent, &product_);
  }
  std::int64_t number() const { return none_ ? 0 : beyond_ ? std::numeric_limits<std::int64_t>::max() : product_; }

 private:
  std::int64_t product_ = 1;
  bool none_ = false, beyond_ = false;
};

}  // namespace

std::int64_t Program::points() const noexcept {
  Points points;
  for (const auto& index : indices) points.add(index.extent);
  return points.number();
}

std::int64_t Program::points(const std::vector<bool>& along) const noexcept {
  Points points;
  for (std::size_t q = 0; q < along.size(); ++q) {
    if (along[q]) points.add(indices[q].extent);
  }
  return points.number();
}

int Program::find_load(int buffer) const noexcept {
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    if (nodes[id].kind == NodeKind::load && nodes[id].source == buffer) return static_cast<int>(id);
  }
  return -1;
}

std::vector<NodeId> Program::outermost() const {
  std::vector<NodeId> list;
  std::vector<bool> inside(nodes.size());
  for (std::size_t id = nodes.size(); id-- > 0;) {  // users come after their operands
    const auto& node = nodes[id];
    if (!node.over.empty() && !inside[id]) list.push_back(static_cast<NodeId>(id));
    for (int k = 0; k < operand_count(node); ++k)
      if (!node.over.empty() || inside[id]) inside[static_cast<std::size_t>(node.operand[k])] = true;
  }
  return list;
}

std::vector<bool> Program::free_indices() const {
  std::vector<bool> free(indices.size(), true);
  for (const auto& node : nodes) {
    for (const int q : node.over) free[static_cast<std::size_t>(q)] = false;
  }
  return free;
}

const char* name_of(OpCode op) noexcept {
  const auto k = static_cast<std::size_t>(op);
  return k < std::size(kOperations) ? kOperations[k].name : "?";
}

int operand_count(OpCode op) noexcept {
  const auto k = static_cast<std::size_t>(op);
  return k < std::size(kOperations) ? kOperations[k].operands : 0;
}

bool is_leaf(const Node& node) noexcept {
  return node.kind == NodeKind::param || node.kind == NodeKind::constant || node.kind == NodeKind::index;
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
  return operand_count(node.op);
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

Node identity_constant(OpCode op, DType type) {
  Node constant;
  constant.kind = NodeKind::constant;
  constant.type = type;
  if (is_integer(type)) {
    constant.integer = identity_bits(op, type);
  } else {
    constant.value = identity(op, type);
  }
  return constant;
}

Bounds bounds(const Affine& affine, const std::vector<LoopIndex>& indices) noexcept {
  Bounds result{affine.constant, affine.constant};
  for (std::size_t q = 0; q < indices.size(); ++q) {
    const auto reach = affine.coefficient[q] * (indices[q].extent - 1);
    (reach < 0 ? result.first : result.last) += reach;
  }
  return result;
}

std::int64_t reached(const Affine& affine, const std::vector<LoopIndex>& indices) noexcept {
  std::int64_t elements = 1;
  for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
    if (affine.coefficient[q] != 0) elements *= indices[q].extent;
  }
  if (elements == 0) return 0;
  // Of indices that step over the same elements each counts once; a look at their strides, as most do not.
  struct Run {
    std::int64_t stride, extent;
  };
  Few<Run, 12> steps;
  for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
    if (affine.coefficient[q] != 0 && indices[q].extent > 1)
      steps.push_back({std::abs(affine.coefficient[q]), indices[q].extent});
  }
  std::sort(steps.begin(), steps.end(), [](const Run& x, const Run& y) { return x.stride < y.stride; });
  std::int64_t reach = 0;
  for (const auto& [stride, extent] : steps) {
    if (stride <= reach) {
      std::int64_t distinct = 1;
      for (const auto& axis : axes_of(affine, indices)) distinct *= axis.extent;
      return std::min(elements, distinct);
    }
    reach += stride * (extent - 1);
  }
  return elements;
}

std::vector<std::size_t> by_falling_stride(const Affine& affine, const std::vector<bool>& kept) {
  const auto& stride = affine.coefficient;
  std::vector<std::size_t> order;
  for (std::size_t q = 0; q < stride.size(); ++q) {
    if (stride[q] != 0 || kept[q]) order.push_back(q);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](auto p, auto q) { return std::abs(stride[p]) > std::abs(stride[q]); });
  return order;
}

bool vector_access(const Program& program, int buffer, const Affine& affine, int index, int vector) noexcept {
  if (vector == 1) return true;
  const auto& target = program.buffers[static_cast<std::size_t>(buffer)];
  const auto q = static_cast<std::size_t>(index);
  if (affine.coefficient[q] != 1 || program.indices[q].extent % vector != 0) return false;
  if (target.alignment % (vector * size_of(target.type)) != 0 || affine.constant % vector != 0) return false;
  for (std::size_t p = 0; p < affine.coefficient.size(); ++p) {
    if (p != q && affine.coefficient[p] % vector != 0) return false;
  }
  return true;
}

}  // namespace ricci::ir
