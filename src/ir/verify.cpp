#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/program.hpp"
#include "ricci/error.hpp"

namespace ricci::ir {
namespace {

[[noreturn]] void broken(const Program& program, const std::string& rule) {
  throw InternalError(
      fmt::format("a program breaks the rule \"{}\"; please report this program:\n{}", rule, print(program)));
}

void verify_access(const Program& program, int buffer, const Affine& affine) {
  if (buffer < 0 || buffer >= static_cast<int>(program.buffers.size())) {
    broken(program, "an access names a buffer of the program");
  }
  if (affine.coefficient.size() != program.indices.size()) broken(program, "an access has one coefficient per index");
  if (program.points() == 0) return;
  const auto reach = bounds(affine, program.indices);
  const auto& target = program.buffers[static_cast<std::size_t>(buffer)];
  if (reach.first < target.first || reach.last > target.last) broken(program, "an access stays inside its buffer");
}

void verify_sum(const Program& program, const Node& node, DType term) {
  if (term != node.type || node.type == DType::f16 || node.type == DType::bf16) {
    broken(program, "a sum has its terms' type, which is no half type");
  }
  for (const int q : node.over) {
    if (q < 0 || q >= static_cast<int>(program.indices.size()))
      broken(program, "a sum runs over indices of the program");
    if (std::count(node.over.begin(), node.over.end(), q) != 1) broken(program, "a sum runs over an index once");
    for (const auto& statement : program.statements) {
      if (statement.offset.coefficient[static_cast<std::size_t>(q)] != 0) {
        broken(program, "no statement writes along an index that is summed over");
      }
    }
  }
}

void verify_node(const Program& program, NodeId id) {
  const auto& node = program.nodes[static_cast<std::size_t>(id)];
  const auto type_of = [&](int k) {
    const auto operand = node.operand[k];
    if (operand < 0 || operand >= id) broken(program, "operands stand before their users");
    return program.nodes[static_cast<std::size_t>(operand)].type;
  };
  switch (node.kind) {
    case NodeKind::load:
      verify_access(program, node.source, node.offset);
      if (node.type != program.buffers[static_cast<std::size_t>(node.source)].type) {
        broken(program, "a load has its buffer's type");
      }
      return;
    case NodeKind::param:
      if (node.source < 0 || node.source >= static_cast<int>(program.params.size()) ||
          node.type != program.params[static_cast<std::size_t>(node.source)].type) {
        broken(program, "a parameter exists and has its declared type");
      }
      return;
    case NodeKind::reduce:
      verify_sum(program, node, type_of(0));
      return;
    case NodeKind::op:
      break;
  }
  if (node.op != OpCode::cast && (node.type == DType::f16 || node.type == DType::bf16)) {
    broken(program, "nothing is computed in f16 or bf16");
  }
  switch (node.op) {
    case OpCode::add:
    case OpCode::mul:
    case OpCode::scale:
      if (type_of(0) != node.type || type_of(1) != node.type) broken(program, "both operands have the result's type");
      return;
    case OpCode::conj:
      if (type_of(0) != node.type || !is_complex(node.type)) broken(program, "conj takes and gives one complex type");
      return;
    case OpCode::cast:
      if (is_complex(type_of(0)) && !is_complex(node.type)) broken(program, "no cast drops an imaginary part");
      if (is_integer(type_of(0)) != is_integer(node.type)) broken(program, "no cast between integers and floats");
      return;
  }
}

}  // namespace

void verify(const Program& program) {
  std::set<std::string> names;
  for (const auto& index : program.indices) {
    if (index.extent < 0) broken(program, "extents start at 0");
    if (!names.insert(index.name).second) broken(program, "names are unique");
  }
  for (const auto& buffer : program.buffers) {
    if (!names.insert(buffer.name).second) broken(program, "names are unique");
    if (buffer.first > buffer.last && program.points() > 0) broken(program, "a buffer has a first and a last offset");
  }
  for (const auto& param : program.params) {
    if (!names.insert(param.name).second) broken(program, "names are unique");
  }
  for (std::size_t id = 0; id < program.nodes.size(); ++id) verify_node(program, static_cast<NodeId>(id));
  for (const auto& statement : program.statements) {
    verify_access(program, statement.buffer, statement.offset);
    if (!program.buffers[static_cast<std::size_t>(statement.buffer)].written) {
      broken(program, "a statement writes an output");
    }
    if (statement.value < 0 || statement.value >= static_cast<int>(program.nodes.size())) {
      broken(program, "a statement has a value");
    }
    if (program.nodes[static_cast<std::size_t>(statement.value)].type !=
        program.buffers[static_cast<std::size_t>(statement.buffer)].type) {
      broken(program, "a statement stores a value of its buffer's type");
    }
  }
}

}  // namespace ricci::ir
