#include "ir/program.hpp"

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

Bounds bounds(const Affine& affine, const std::vector<Index>& indices) noexcept {
  Bounds result{affine.constant, affine.constant};
  for (std::size_t q = 0; q < indices.size(); ++q) {
    const auto reach = affine.coefficient[q] * (indices[q].extent - 1);
    (reach < 0 ? result.first : result.last) += reach;
  }
  return result;
}

}  // namespace ricci::ir
