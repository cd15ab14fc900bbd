// The stored components of symmetric tensors, and the component of each multi-index.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "frontend/formula.hpp"

namespace ricci::formula {

/// Limits of extents and of the number of components of expanded tensors: their kernels are straight-line code, whose
/// length grows with the components.
inline constexpr std::int64_t kMaxComponentExtent = 16;
inline constexpr std::int64_t kMaxComponents = 4096;

std::int64_t count_components(const TensorDecl& tensor, const ProgramGraph& program);

/// The value of a multi-index: sign * (stored component), or 0.
struct Component {
  int sign = 0;
  int number = -1;
};

/// The stored components of a tensor: its sorted multi-indices, in lexicographic order.
class Components {
 public:
  Components(const TensorDecl& tensor, const ProgramGraph& program);

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

/// dg_0_1 for component (0, 1) of dg.
std::string component_name(const std::string& tensor, const std::vector<std::int64_t>& component);

}  // namespace ricci::formula
