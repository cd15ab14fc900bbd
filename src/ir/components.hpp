// Which components of a tensor are stored, and where each multi-index finds its value.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/formula.hpp"

namespace ricci::formula {

/// Slots of tensors whose components are told apart, and components that a point may have: such kernels are straight
/// lines, as long as they have components.
inline constexpr std::int64_t kMaxComponentExtent = 16;
inline constexpr std::int64_t kMaxComponents = 4096;

std::int64_t count_components(const TensorDecl& tensor, const Program& program);

/// Where a multi-index finds its value: sign * (stored component), or 0.
struct Component {
  int sign = 0;
  int number = -1;
};

/// The stored components of a tensor: its sorted multi-indices, in lexicographic order.
class Components {
 public:
  Components(const TensorDecl& tensor, const Program& program);

  int count() const noexcept { return static_cast<int>(stored_.size()); }
  const std::vector<std::int64_t>& stored(int number) const { return stored_[static_cast<std::size_t>(number)]; }
  Component find(std::vector<std::int64_t> multi_index) const;

 private:
  std::vector<Symmetry> symmetries_;
  std::vector<std::vector<std::int64_t>> stored_;
  std::map<std::vector<std::int64_t>, int> number_;
};

/// The stored form of a multi-index, in place; the sign that takes it there, 0 where an antisymmetry makes it 0.
int sort_slots(const std::vector<Symmetry>& symmetries, std::vector<std::int64_t>& multi_index);

}  // namespace ricci::formula
