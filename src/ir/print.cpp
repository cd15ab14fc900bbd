#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/named_values.hpp"
#include "ir/program.hpp"

namespace ricci::ir {
namespace {

// Messages about broken programs print them, so every number is checked; invalid ones print as "?".
template <class T>
std::string name_of(const std::vector<T>& list, int k) {
  return k >= 0 && k < static_cast<int>(list.size()) ? list[static_cast<std::size_t>(k)].name : "?";
}

/// The name of a reduction by an operation.
const char* name_of_many(OpCode op) {
  if (op == OpCode::add) return "sum";
  return op == OpCode::mul ? "product" : name_of(op);
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program), let_(program.nodes.size()) {
    const auto named = named_values(program);
    int last = 0;
    for (std::size_t id = 0; id < named.size(); ++id) {
      if (named[id]) let_[id] = ++last;
    }
  }

  std::string lets() const {
    std::string text;
    for (std::size_t id = 0; id < let_.size(); ++id) {
      if (let_[id] != 0) text += fmt::format("let %{} = {}\n", let_[id], define(static_cast<NodeId>(id)));
    }
    return text;
  }

  std::string statement(const Statement& statement) const {
    const auto step = statement.step == 0 ? std::string() : fmt::format(" by {}", statement.step);
    return fmt::format("{}[{}]{} = {}\n", name_of(program_.buffers, statement.buffer),
                       print(statement.offset, program_.indices), step,
                       use(statement.value, static_cast<NodeId>(program_.nodes.size())));
  }

 private:
  /// The text of node `id` as an operand of the later node `user`.
  std::string use(NodeId id, NodeId user) const {
    if (id < 0 || id >= user) return "?";
    const auto let = let_[static_cast<std::size_t>(id)];
    return let == 0 ? define(id) : fmt::format("%{}", let);
  }

  std::string define(NodeId id) const {
    const auto& node = program_.nodes[static_cast<std::size_t>(id)];
    const auto operand = [&](int k) { return use(node.operand[k], id); };
    const auto over = [&] {
      std::vector<std::string> names;
      for (const int q : node.over) names.push_back(name_of(program_.indices, q));
      return fmt::format("{}", fmt::join(names, " "));
    };
    switch (node.kind) {
      case NodeKind::load:
        return fmt::format("{}[{}]", name_of(program_.buffers, node.source), print(node.offset, program_.indices));
      case NodeKind::param:
        return name_of(program_.params, node.source);
      case NodeKind::constant:
        if (is_integer(node.type)) {
          return is_signed(node.type) ? fmt::format("{}({})", name(node.type), static_cast<std::int64_t>(node.integer))
                                      : fmt::format("{}({})", name(node.type), node.integer);
        }
        return is_complex(node.type) ? fmt::format("{}({}, {})", name(node.type), node.value.real(), node.value.imag())
                                     : fmt::format("{}({})", name(node.type), node.value.real());
      case NodeKind::index:
        return name_of(program_.indices, node.source);
      case NodeKind::reduce:
        return fmt::format("{}({} : {})", name_of_many(node.op), over(), operand(0));
      case NodeKind::guard:
        return fmt::format("guard({}, {})", operand(0), operand(1));
      case NodeKind::scan:
        return fmt::format("{}({}, {} : {}{})", node.exclusive ? "exclusive_scan" : "scan", name_of_many(node.op),
                           over(), operand_count(node) == 2 ? operand(1) + ", " : "", operand(0));
      case NodeKind::compact:
        return fmt::format("compact({} : {}, {}, {})", over(), operand(0), operand(1), operand(2));
      case NodeKind::op:
        break;
    }
    std::string text = node.op == OpCode::cast ? name(node.type) : name_of(node.op);
    for (int k = 0; k < operand_count(node); ++k) text += (k == 0 ? "(" : ", ") + operand(k);
    return text + ')';
  }

  const Program& program_;
  std::vector<int> let_;  // per node: the number of its "let", 0 where it has none
};

}  // namespace

std::string print(const Affine& affine, const std::vector<LoopIndex>& indices) {
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
    const fmt::format_int digits(magnitude);
    if (factor.empty() || magnitude != 1) text.append(digits.data(), digits.size());
    if (!factor.empty() && magnitude != 1) text += '*';
    text += factor;
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
    text += fmt::format("{} {} : {} [{}..{}] align {}{}\n", buffer.written ? "output" : "input", buffer.name,
                        name(buffer.type), buffer.first, buffer.last, buffer.alignment, buffer.tf32 ? " tf32" : "");
  }
  for (const auto& param : program.params) text += fmt::format("param {} : {}\n", param.name, name(param.type));
  if (!program.exact) text += "rounding free\n";
  if (program.precision != Precision::operands) text += fmt::format("products {}\n", name(program.precision));
  const Printer printer(program);
  text += printer.lets();
  for (const auto& statement : program.statements) text += printer.statement(statement);
  return text;
}

}  // namespace ricci::ir
