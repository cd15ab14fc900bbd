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

std::optional<std::vector<int>> matched(const Program& writer, const Program& reader, const Affine& read) {
  const auto& written = writer.statement().offset;
  if (written.constant != read.constant) return std::nullopt;
  std::vector<int> as(writer.indices.size(), -1);
  std::vector<bool> taken(reader.indices.size());
  for (std::size_t q = 0; q < as.size(); ++q) {
    if (written.coefficient[q] == 0 || writer.indices[q].extent < 2) continue;
    for (std::size_t p = 0; p < taken.size() && as[q] < 0; ++p) {
      if (!taken[p] && read.coefficient[p] == written.coefficient[q] &&
          reader.indices[p].extent == writer.indices[q].extent)
        as[q] = static_cast<int>(p);
    }
    if (as[q] < 0) return std::nullopt;
    taken[static_cast<std::size_t>(as[q])] = true;
  }
  for (std::size_t p = 0; p < taken.size(); ++p) {
    if (!taken[p] && read.coefficient[p] != 0 && reader.indices[p].extent > 1) return std::nullopt;
  }
  return as;
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
