#include <fmt/format.h>

#include "ir/program.hpp"

namespace ricci::ir {
namespace {

// Messages about broken programs print them, so nothing here trusts a number: what does not exist prints as "?".
template <class T>
std::string name_of(const std::vector<T>& list, int k) {
  return k >= 0 && k < static_cast<int>(list.size()) ? list[static_cast<std::size_t>(k)].name : "?";
}

/// The node `id`, which stands before `user`.
std::string print_node(const Program& program, NodeId id, NodeId user) {
  if (id < 0 || id >= user) return "?";
  const auto& node = program.nodes[static_cast<std::size_t>(id)];
  const auto operand = [&](int k) { return print_node(program, node.operand[k], id); };
  switch (node.kind) {
    case NodeKind::load:
      return fmt::format("{}[{}]", name_of(program.buffers, node.source), print(node.offset, program.indices));
    case NodeKind::param:
      return name_of(program.params, node.source);
    case NodeKind::reduce: {
      std::string over;
      for (const int q : node.over) over += program.indices[static_cast<std::size_t>(q)].name + " ";
      return fmt::format("sum({}: {})", over, operand(0));
    }
    case NodeKind::op:
      break;
  }
  switch (node.op) {
    case OpCode::add:
      return fmt::format("add({}, {})", operand(0), operand(1));
    case OpCode::mul:
      return fmt::format("mul({}, {})", operand(0), operand(1));
    case OpCode::scale:
      return fmt::format("scale({}, {})", operand(0), operand(1));
    case OpCode::conj:
      return fmt::format("conj({})", operand(0));
    case OpCode::cast:
      return fmt::format("{}({})", name(node.type), operand(0));
  }
  return {};
}

}  // namespace

std::string print(const Affine& affine, const std::vector<Index>& indices) {
  std::string text;
  const auto term = [&](std::int64_t value, const std::string& factor) {
    if (value == 0) return;
    const bool negative = value < 0;
    if (text.empty()) {
      if (negative) text += '-';
    } else {
      text += negative ? " - " : " + ";
    }
    const auto magnitude = negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    if (factor.empty()) {
      text += fmt::format("{}", magnitude);
    } else if (magnitude == 1) {
      text += factor;
    } else {
      text += fmt::format("{}*{}", magnitude, factor);
    }
  };
  for (std::size_t q = 0; q < affine.coefficient.size() && q < indices.size(); ++q) {
    term(affine.coefficient[q], indices[q].name);
  }
  term(affine.constant, "");
  return text.empty() ? "0" : text;
}

std::string print(const Program& program) {
  std::string text;
  for (const auto& index : program.indices) text += fmt::format("index {} = {}\n", index.name, index.extent);
  for (const auto& buffer : program.buffers) {
    text += fmt::format("{} {} : {} [{}..{}] align {}\n", buffer.written ? "output" : "input", buffer.name,
                        name(buffer.type), buffer.first, buffer.last, buffer.alignment);
  }
  for (const auto& param : program.params) text += fmt::format("param {} : {}\n", param.name, name(param.type));
  for (const auto& statement : program.statements) {
    text += fmt::format("{}[{}] = {}\n", name_of(program.buffers, statement.buffer),
                        print(statement.offset, program.indices),
                        print_node(program, statement.value, static_cast<NodeId>(program.nodes.size())));
  }
  return text;
}

}  // namespace ricci::ir
