#include "codegen/called_functions.hpp"

#include <fmt/format.h>

#include <map>

#include "codegen/expression.hpp"

namespace ricci::codegen {

using ir::NodeKind;
using ir::OpCode;

CalledFunctions called_functions(const ir::Program& program) {
  constexpr int kWrittenOut = 32;
  std::map<std::pair<OpCode, DType>, int> count;
  CalledFunctions called;
  for (const auto& node : program.nodes) {
    if (node.kind != NodeKind::op || !ir::is_function(node.op)) continue;
    if (++count[{node.op, node.type}] > kWrittenOut) called.emplace(node.op, node.type);
  }
  return called;
}

std::string called_name(OpCode op, DType type) { return fmt::format("{}_{}", ir::name_of(op), name(type)); }

std::string called_definitions(const ir::Program& program) {
  std::string text;
  for (const auto& [op, type] : called_functions(program)) {
    const auto* c = c_type(type);
    const char* suffix = type == DType::f32 ? "f" : "";
    const bool two = ir::operand_count(op) == 2;
    const auto value = op == OpCode::rsqrt ? fmt::format("1.0{} / sqrt{}(x)", suffix, suffix)
                                           : fmt::format("{}{}(x{})", ir::name_of(op), suffix, two ? ", y" : "");
    text += fmt::format("static __attribute__((noinline)) {} {}({} x{}) {{ return {}; }}\n", c, called_name(op, type),
                        c, two ? fmt::format(", {} y", c) : "", value);
  }
  return text.empty() ? text : "// Called from many places.\n" + text + "\n";
}

}  // namespace ricci::codegen
