// Storage of a program's tensors: that of its sequence, and the offset of every component in them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/components.hpp"
#include "ir/sequence.hpp"

namespace ricci::formula {

/// The loops over a grid: extents, and the weight of each in the point's number. One loop, or several where blocked
/// layouts need quotients and remainders of the number.
struct GridLoops {
  std::vector<std::int64_t> extents, weights;
};

/// Names, each given once.
class Names {
 public:
  /// The wanted name where it is free, or that with _2, _3, ...; it is taken then.
  std::string unique(const std::string& wanted);
  void take(const std::string& name) { taken_.insert(name); }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> next_;  // per wanted name: the number to try next
};

/// All extents must be known, but for shapes().
class Memory {
 public:
  /// Throws ShapeError where a blocked layout does not divide the points, or two do not divide each other, or where a
  /// layout puts two elements of an output at one place.
  explicit Memory(const ProgramGraph& program);

  const std::vector<ir::Storage>& storages() const noexcept { return storages_; }
  const GridLoops& grid() const noexcept { return grid_; }
  const Components& components(int tensor) const { return *homes_[static_cast<std::size_t>(tensor)].components; }

  /// The storage of a tensor, or of one of its components where each has its own.
  int storage(int tensor, int component) const;
  /// Elements from its base to the tensor's element 0 (expanded: to a component's point 0).
  std::int64_t base(int tensor, int component) const;
  /// Elements from one value of a slot to the next; not of expanded tensors.
  std::int64_t stride(int tensor, std::size_t k) const;
  /// Elements from one value of grid loop `loop` to the next.
  std::int64_t grid_stride(int tensor, std::size_t loop) const;

  /// Gives a local or a temp a place in the workspace.
  void place_in_workspace(int tensor);
  bool has_place(int tensor) const { return homes_[static_cast<std::size_t>(tensor)].first_storage >= 0; }
  /// A dense tensor of the workspace that has no name in the program; its storage.
  int add_workspace(const std::string& name, DType type, std::int64_t elements);

 private:
  struct Home {
    int first_storage = -1;
    std::vector<std::int64_t> strides;  // dense
    std::int64_t leading = 0, block = 0;
    bool per_component = false;
    std::optional<Components> components;  // expanded
  };
  void place(int tensor, ir::Role role);

  const ProgramGraph& program_;
  std::vector<Home> homes_;
  std::vector<ir::Storage> storages_;
  Names names_;  // of the storages
  GridLoops grid_;
  std::int64_t points_ = 1;
};

}  // namespace ricci::formula
