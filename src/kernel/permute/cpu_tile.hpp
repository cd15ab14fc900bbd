// The tile of a task of a CPU: where it begins and ends along each index, and accesses at points of it.
#pragma once

#include <string>
#include <vector>

#include "kernel/expand.hpp"
#include "kernel/permute/moves.hpp"
#include "kernel/permute/statement.hpp"

namespace ricci::kernel {

class CpuTile {
 public:
  CpuTile(const ir::Program& program, const Moves& moves);

 protected:
  static std::size_t as_size(int number) { return static_cast<std::size_t>(number); }
  int indices() const { return static_cast<int>(program_.indices.size()); }
  std::int64_t tile(int q) const { return moves_.tile[as_size(q)]; }
  std::int64_t extent(int q) const { return program_.indices[as_size(q)].extent; }
  const std::string& name(int q) const { return program_.indices[as_size(q)].name; }
  const ir::Node& node(ir::NodeId id) const { return program_.nodes[as_size(id)]; }
  const ir::Node& load() const { return node(moves_.stage->load); }
  const ir::Statement& statement() const { return program_.statement(); }
  /// Whether the statement adds to the output.
  bool adds() const;

  /// Names of the first value of each index in the tile, and, in ends_, of the end of its values where tiles differ.
  /// With `whole`, all tiles have their whole size: the last one begins earlier.
  Body origins(bool whole);
  /// Loops over tasks around a body, the first index in the order innermost.
  Body in_tasks(Body body) const;

  /// Elements from the place of each index on: of an array, by a load, of the result.
  Access at(int array, const ir::Affine& offset, const std::vector<Affine>& place, int lanes = 1) const;
  Value load_at(ir::NodeId id, const std::vector<Affine>& place, int lanes = 1) const;
  Access result_at(const std::vector<Affine>& place, int lanes = 1) const;

  int add_registers(const std::string& name, DType type, int lanes, std::vector<std::int64_t> shape);
  static void append(Body& body, Body more) {
    for (auto& statement : more) body.push_back(std::move(statement));
  }

  const ir::Program& program_;
  const Moves& moves_;
  Kernel kernel_;
  std::vector<Var> value_;            // per index: its name
  std::vector<Affine> origin_, end_;  // per index, of the tile
  Body ends_;

 protected:
  std::string fresh(std::string name) const;
  /// The digit of the task's number that numbers tiles along q.
  Var task_of(int q) const { return task_[as_size(q)]; }

 private:
  std::vector<Var> tasks_;                                                 // fastest first
  std::vector<Var> task_ = std::vector<Var>(program_.indices.size(), -1);  // per index
};

}  // namespace ricci::kernel
