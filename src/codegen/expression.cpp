#include "codegen/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "codegen/prelude.hpp"
#include "codegen/source.hpp"
#include "ir/schedule.hpp"
#include "ricci/error.hpp"
#include "ricci/version.hpp"

namespace ricci::codegen {
namespace {

using ir::Node;
using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;
using ir::Program;

bool is_real(DType type) { return type == DType::f32 || type == DType::f64; }

/// Indices by falling stride of an access, as letters: how the user's spec for that tensor would read.
std::string axis_order(const Program& program, const ir::Affine& affine) {
  std::vector<std::size_t> order(program.indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto p, auto q) { return std::abs(affine.coefficient[p]) > std::abs(affine.coefficient[q]); });
  std::string text;
  for (const auto q : order) text += program.indices[q].name;
  return text;
}

}  // namespace

const char* c_type(DType type) {
  switch (type) {
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    default:
      return name(type);
  }
}

std::string affine_text(const std::vector<std::int64_t>& coefficient, std::int64_t constant,
                        const std::function<std::string(int)>& name, bool wide) {
  std::string text;
  const auto term = [&](std::int64_t value, const std::string& factor) {
    const bool negative = value < 0;
    if (!text.empty())
      text += negative ? " - " : " + ";
    else if (negative)
      text += "-";
    const auto magnitude = negative ? -value : value;
    const auto literal = fmt::format("{}{}", magnitude, wide ? "LL" : "");
    text += factor.empty() ? literal : magnitude == 1 ? factor : fmt::format("{} * {}", literal, factor);
  };
  for (std::size_t q = 0; q < coefficient.size(); ++q) {
    if (coefficient[q] == 0) continue;
    const auto factor = name(static_cast<int>(q));
    if (!factor.empty()) term(coefficient[q], factor);
  }
  if (constant != 0) term(constant, "");
  return text.empty() ? "0" : text;
}

std::string value_text(const Program& program, NodeId id, const std::function<std::string(NodeId)>& leaf) {
  const Node& node = program.nodes[static_cast<std::size_t>(id)];
  if (node.kind == NodeKind::load) return leaf(id);
  if (node.kind == NodeKind::param) return program.params[static_cast<std::size_t>(node.source)].name;
  // One after the other: compilers may evaluate arguments in any order, and leaf() may depend on it.
  const auto x = value_text(program, node.operand[0], leaf);
  const auto y = node.operand[1] < 0 ? std::string() : value_text(program, node.operand[1], leaf);
  switch (node.op) {
    case OpCode::add:
      return is_real(node.type) ? fmt::format("{} + {}", x, y) : fmt::format("add({}, {})", x, y);
    case OpCode::mul:
      return fmt::format("mul({}, {})", x, y);
    case OpCode::scale:
      return fmt::format("scale({}, {})", x, y);
    case OpCode::conj:
      return fmt::format("conj({})", x);
    case OpCode::cast:
      return fmt::format("cast_{}({})", name(node.type), x);
  }
  return {};
}

std::vector<NodeId> loads_of(const Program& program, NodeId id) {
  std::vector<NodeId> loads;
  value_text(program, id, [&](NodeId load) {
    loads.push_back(load);
    return std::string();
  });
  return loads;
}

std::string kernel_name(const Program& program) {
  const auto& statement = program.statement();
  const auto loads = loads_of(program, statement.value);
  std::string name = ricci::name(program.buffers[static_cast<std::size_t>(statement.buffer)].type);
  if (!loads.empty()) {
    const auto& load = program.nodes[static_cast<std::size_t>(loads.front())];
    if (load.type != program.buffers[static_cast<std::size_t>(statement.buffer)].type) {
      name = fmt::format("{}_{}", ricci::name(load.type), name);
    }
    if (!program.indices.empty()) name += '_' + axis_order(program, load.offset);
  }
  name += program.indices.empty() ? "_scalar" : "_to_" + axis_order(program, statement.offset);
  std::vector<std::pair<std::string, std::int64_t>> extents;
  for (const auto& index : program.indices) extents.emplace_back(index.name, index.extent);
  std::sort(extents.begin(), extents.end(), [](const auto& x, const auto& y) {
    return std::pair(x.first.size(), x.first) < std::pair(y.first.size(), y.first);
  });
  constexpr std::size_t kShown = 12;
  for (std::size_t k = 0; k < std::min(extents.size(), kShown); ++k) {
    name += fmt::format("{}{}", k == 0 ? "_" : "x", extents[k].second);
  }
  return name;
}

std::string portable_prelude(const Program& program) {
  bool half = false, arithmetic = false, cast = false;
  for (const auto& node : program.nodes) {
    if (node.kind != NodeKind::op) continue;
    cast = cast || node.op == OpCode::cast;
    arithmetic = arithmetic || node.op != OpCode::cast;
    half = half || cast;
  }
  std::string text = prelude::kTypes;
  if (half) text += fmt::format("\n{}", prelude::kHalf);
  if (arithmetic) text += fmt::format("\n{}", prelude::kArithmetic);
  if (cast) text += fmt::format("\n{}", prelude::kCast);
  return text + '\n';
}

const char* cuda_prelude() { return prelude::kCuda; }

std::string head_text(const Program& program, const ir::Schedule& schedule, const std::string& kernel,
                      const std::string& target, const std::string& again, const std::string& plan) {
  std::string text = fmt::format("// {}        made by ricci {} for {}; do not edit\n", kernel, RICCI_VERSION, target);
  const auto block = [&](const char* title, const std::string& lines) {
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line); title = "") text += fmt::format("// {:<10} {}\n", title, line);
  };
  std::vector<std::string> extents;
  for (const auto& index : program.indices) extents.push_back(fmt::format("{}={}", index.name, index.extent));
  const auto name_of = [&](int q) { return program.indices[static_cast<std::size_t>(q)].name; };
  const auto access = [&](int buffer, const ir::Affine& affine) {
    return fmt::format("{}[{}]", program.buffers[static_cast<std::size_t>(buffer)].name,
                       affine_text(affine.coefficient, affine.constant, name_of));
  };
  const auto& statement = program.statement();
  block("problem", fmt::format("{} = {}", access(statement.buffer, statement.offset),
                               value_text(program, statement.value, [&](NodeId id) {
                                 const auto& node = program.nodes[static_cast<std::size_t>(id)];
                                 return access(node.source, node.offset);
                               })));
  block("extents", fmt::format("{}", fmt::join(extents, " ")));
  block("plan", plan);
  const auto element = [&](int buffer) { return size_of(program.buffers[static_cast<std::size_t>(buffer)].type); };
  std::int64_t read = 0;
  for (const auto id : loads_of(program, statement.value)) {
    read += program.points() * element(program.nodes[static_cast<std::size_t>(id)].source);
  }
  const auto written = program.points() * element(statement.buffer);
  block("traffic", fmt::format("{} B (read {}, write {})", read + written, read, written));
  std::int64_t largest = 0;
  for (const auto& buffer : program.buffers) largest = std::max({largest, buffer.last, -buffer.first});
  block("index",
        fmt::format("{}: largest offset {}", largest < (std::int64_t{1} << 31) ? "32 bits" : "64 bits", largest));
  block("schedule", schedule.name);
  block("again", again);
  return text;
}

}  // namespace ricci::codegen
