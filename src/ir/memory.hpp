// Where the tensors of a program lie: the slots of its sequence, and the place of every component in them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/components.hpp"
#include "ir/sequence.hpp"

namespace ricci::formula {

/// Extents of the loops that run over a grid and what each adds to the point's number: one loop, or several where
/// blocked layouts need the number's quotients and remainders.
struct GridLoops {
  std::vector<std::int64_t> extents, weights;
};

/// All extents must be known, but for shapes().
class Memory {
 public:
  /// Throws ShapeError where a blocked layout does not divide the points, or two do not divide each other, or where a
  /// layout puts two elements of an output at one place.
  explicit Memory(const Program& program);

  const std::vector<ir::Slot>& slots() const noexcept { return slots_; }
  const GridLoops& grid() const noexcept { return grid_; }
  const Components& components(int tensor) const { return *homes_[static_cast<std::size_t>(tensor)].components; }

  /// The slot of a tensor, or of one of its components where each has its own.
  int slot(int tensor, int component) const;
  /// Elements from the slot's base to the tensor's element 0 (expanded: to a component's point 0).
  std::int64_t base(int tensor, int component) const;
  /// Elements from one value of a slot to the next; not of expanded tensors.
  std::int64_t stride(int tensor, std::size_t k) const;
  /// Elements from one value of grid loop `loop` to the next.
  std::int64_t grid_stride(int tensor, std::size_t loop) const;

  /// Gives a local or a temp a place in the workspace.
  void place_in_workspace(int tensor);
  bool has_place(int tensor) const { return homes_[static_cast<std::size_t>(tensor)].first_slot >= 0; }
  /// A dense tensor of the workspace that has no name in the program; its slot.
  int add_workspace(const std::string& name, DType type, std::int64_t elements);

 private:
  struct Home {
    int first_slot = -1;
    std::vector<std::int64_t> strides;  // dense
    std::int64_t leading = 0, block = 0;
    bool per_component = false;
    std::optional<Components> components;  // expanded
  };
  void place(int tensor, ir::Role role);

  const Program& program_;
  std::vector<Home> homes_;
  std::vector<ir::Slot> slots_;
  GridLoops grid_;
  std::int64_t points_ = 1;
};

/// What a caller must bring for each tensor; extents may be open.
std::vector<TensorInfo> tensor_infos(const Program& program);

/// Finds open extents from the shapes of arrays; see ricci::Program::bind().
void bind(Program& program, const std::map<std::string, std::vector<std::int64_t>>& shapes);

/// A name that `taken` does not hold yet: the wanted one, or that with _2, _3, ...; it is taken then.
std::string unique_name(const std::string& wanted, std::vector<std::string>& taken);

}  // namespace ricci::formula
