// Programs executed as they read: every statement a loop over all values of its indices, on full tensors without
// symmetry, one point after the other, with a bound of the roundings beside each value. Shares nothing with the
// lowering.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "frontend/formula.hpp"
#include "program_rounding.hpp"

namespace ricci::test {

class Reference {
 public:
  explicit Reference(const formula::ProgramGraph& program);

  /// Values of a tensor at (multi-index, point): row-major, the point last; of a symmetric one all of them.
  std::vector<Value>& values(const std::string& tensor);
  void set_param(const std::string& name, Value value);
  void run();

 private:
  using Positions = std::map<int, std::int64_t>;
  void execute(const formula::Statement& statement);
  void scan(const formula::Statement& statement, Positions at);
  void compact(const formula::Statement& statement, Positions at);
  Value evaluate(formula::ExprId id, Positions& at, const ir::OpCode* around);
  Value operation(const formula::Expr& expr, Positions& at, const ir::OpCode* around);
  Value computed(const formula::Expr& expr, const Value* operands, const DType* types) const;
  Value access(const formula::Expr& expr, Positions& at);
  Value reduction(const formula::Expr& expr, Positions& at);
  Value matrix(const formula::Expr& expr, Positions& at);
  std::size_t place(int tensor, const std::vector<std::int64_t>& multi_index, const Positions& at) const;
  static std::int64_t sum_at(const formula::SlotSum& sum, const Positions& at);
  std::vector<std::int64_t> multi_index(const formula::Expr& access, const Positions& at) const;
  std::int64_t points() const { return program_.grid < 0 ? 1 : program_.extent(program_.grid); }
  void store(int tensor, std::vector<std::int64_t> multi_index, const Positions& at, Value value);

  const formula::ProgramGraph& program_;
  std::vector<std::vector<Value>> values_;
  std::vector<Value> params_;
};

/// The component that holds a multi-index, in the order of sorted multi-indices, and the sign that takes it there.
struct StoredComponent {
  int sign = 0;
  int number = -1;
};
StoredComponent stored_component(const formula::ProgramGraph& program, int tensor,
                                 std::vector<std::int64_t> multi_index);
int component_count(const formula::ProgramGraph& program, int tensor);

/// All multi-indices of the extents, last one fastest.
std::vector<std::vector<std::int64_t>> multi_indices(const std::vector<std::int64_t>& extents);
std::vector<std::int64_t> extents_of(const formula::ProgramGraph& program, int tensor);

}  // namespace ricci::test
