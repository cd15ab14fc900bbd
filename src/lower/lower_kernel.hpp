// Lowering of one kernel: expressions of a user's program become nodes of the representation.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/builder.hpp"
#include "lower/memory.hpp"

namespace ricci::formula {

/// The values of a program's indices while an expression is lowered: affine sums of the kernel's loops, or constants
/// where components are separate variables.
struct Positions {
  std::map<int, ir::Affine> of;
  std::vector<int> grid;  ///< loops that make up the grid's point, as GridLoops has them; empty outside of a grid
};

bool is_constant(const ir::Affine& affine);
ir::Affine constant_affine(std::int64_t value);

/// Indices, free or bound in an expression, that must be constants for it to be evaluated: those of tensors whose
/// components are told apart.
class Needs {
 public:
  explicit Needs(const ProgramGraph& program) : program_(program) {}
  const std::vector<int>& of(ExprId id);

 private:
  const ProgramGraph& program_;
  std::map<ExprId, std::vector<int>> known_;
};

class KernelLowering {
 public:
  KernelLowering(const ProgramGraph& program, const Memory& memory, Needs& needs);

  /// A loop of the kernel; the name is made unique.
  int add_loop(const std::string& name, std::int64_t extent);
  std::vector<int> add_grid_loops();

  /// The value of an expression, in its own type; half types are widened, numbers are i64, f64 or c128.
  ir::NodeId value(ExprId id, const Positions& at);
  ir::NodeId value_as(ExprId id, DType type, const Positions& at);
  /// 0 or not 0, as u8.
  ir::NodeId truth(ExprId id, const Positions& at);

  /// The offset of an access to a dense tensor.
  ir::Affine offset(const Expr& access, const Positions& at) const;
  /// The offset of one component of an expanded tensor.
  ir::Affine offset(int tensor, int component, const Positions& at) const;
  /// The element itself, in the tensor's type, without widening.
  ir::NodeId load(const Expr& access, const Positions& at);
  ir::NodeId load(int tensor, int component, const Positions& at);
  ir::NodeId load_storage(int storage, ir::Affine offset);
  /// If the expression is a component, its value in the tensor's type without widening; else -1.
  ir::NodeId component_itself(ExprId id, const Positions& at);
  void store(int storage, ir::Affine offset, ir::NodeId value, std::int64_t step = 0);
  Component component(const Expr& access, const Positions& at) const;

  /// Components that this kernel's statements have assigned, in the tensors' types; later reads use these values.
  std::map<std::pair<int, int>, ir::NodeId> current;
  /// Components that were loaded.
  std::map<std::pair<int, int>, ir::NodeId> read;
  /// Called before a component is loaded that no statement of the kernel has given a value.
  std::function<void(const Expr& access, int component)> on_read;
  /// Invalidates known values after `current` has changed.
  void forget() { known_.clear(); }

  const Memory& memory() const noexcept { return memory_; }
  ir::Step finish();

  ir::Builder builder;

 private:
  struct Known {
    ir::NodeId node;
    std::vector<int> loops;  // that run inside of it
  };
  int buffer(int storage);
  void drop_unused();  ///< loops, buffers and parameters of nodes that no statement needs
  ir::NodeId component_value(const Expr& access, int number, const Positions& at);
  ir::NodeId evaluate(const Expr& expr, const Positions& at);
  ir::NodeId operation(const Expr& expr, const Positions& at);
  ir::NodeId reduction(const Expr& expr, const Positions& at);
  ir::NodeId matrix(const Expr& expr, const Positions& at);
  ir::NodeId local(const Expr& access, const Positions& at);
  ir::NodeId widened(ir::NodeId node);
  ir::Affine position(const SlotValue& slot, const Positions& at) const;
  ir::NodeId index_value(const ir::Affine& affine);
  std::string key(ExprId id, const Positions& at) const;
  /// Loops for an index that no reduction around uses.
  std::vector<int> loops_for(int index);

  const ProgramGraph& program_;
  const Memory& memory_;
  Needs& needs_;
  Names names_;
  std::vector<int> storages_;                           // per buffer
  std::unordered_map<int, int> buffers_;                // per storage that has one
  std::vector<int> params_;                             // per parameter
  std::map<int, std::vector<std::vector<int>>> loops_;  // per index: those of reductions, to be used again
  std::vector<int> active_;                             // loops of the reductions around
  std::unordered_map<std::string, Known> known_;
  std::map<ir::NodeId, std::vector<int>> inner_;  // per node: loops inside
};

}  // namespace ricci::formula
