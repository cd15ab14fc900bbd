#include "ir/passes/index_uses.hpp"

#include <utility>

namespace ricci::ir {

std::vector<Indices> index_uses(const Program& program) {
  const auto at = [](int k) { return static_cast<std::size_t>(k); };
  std::vector<Indices> made;
  made.reserve(program.nodes.size());
  for (const auto& node : program.nodes) {
    Indices uses(program.indices.size());
    if (node.kind == NodeKind::index) uses[at(node.source)] = true;
    for (std::size_t q = 0; node.kind == NodeKind::load && q < uses.size(); ++q)
      uses[q] = node.offset.coefficient[q] != 0;
    for (int k = 0; k < operand_count(node); ++k) uses = either(uses, made[at(node.operand[k])]);
    for (const int q : node.over) uses[at(q)] = false;
    made.push_back(std::move(uses));
  }
  return made;
}

std::vector<int> by_memory(const Indices& which, const Affine& access) {
  std::vector<int> order;
  for (const auto q : by_falling_stride(access, which)) {
    if (which[q]) order.push_back(static_cast<int>(q));
  }
  return order;
}

Indices either(const Indices& x, const Indices& y) {
  auto made = x;
  for (std::size_t q = 0; q < made.size(); ++q) made[q] = made[q] || y[q];
  return made;
}

bool within(const Indices& few, const Indices& many) {
  for (std::size_t q = 0; q < few.size(); ++q) {
    if (few[q] && !many[q]) return false;
  }
  return true;
}

double elements(const Program& program, const Indices& of) {
  double count = 1;
  for (std::size_t q = 0; q < of.size(); ++q) count *= of[q] ? static_cast<double>(program.indices[q].extent) : 1;
  return count;
}

}  // namespace ricci::ir
