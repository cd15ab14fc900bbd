#include "codegen/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <sstream>
#include <tuple>

#include "codegen/prelude.hpp"
#include "codegen/source.hpp"
#include "ir/traffic.hpp"
#include "ricci/error.hpp"
#include "ricci/version.hpp"

namespace ricci::codegen {
namespace {

using ir::Node;
using ir::NodeKind;
using ir::OpCode;
using ir::Program;

std::vector<const Node*> loads_of(const Program& program) {
  std::vector<const Node*> loads;
  for (const auto& node : program.nodes) {
    if (node.kind == NodeKind::load) loads.push_back(&node);
  }
  return loads;
}

/// The indices of an access by falling stride: the tensor's term in index notation.
std::string axis_order(const Program& program, const ir::Affine& affine, bool all) {
  std::string text;
  for (const auto q : ir::by_falling_stride(affine, std::vector<bool>(program.indices.size(), all)))
    text += program.indices[q].name;
  return text;
}

}  // namespace

const char* c_type(DType type) { return type == DType::f32 ? "float" : type == DType::f64 ? "double" : name(type); }

std::string literal(Scalar value, DType type) {
  if (is_integer(type)) throw InternalError("a literal of an integer type by a float");
  if (is_half(type)) {
    if (value != Scalar(0)) throw InternalError("a literal of a half type");
    return fmt::format("{}{{}}", name(type));
  }
  const bool narrow = type == DType::f32 || type == DType::c64;
  const auto real = [&](double x) {
    if (narrow) x = static_cast<float>(x);
    const char* bits = narrow ? "f32" : "f64";
    if (std::isnan(x)) return fmt::format("nan_{}()", bits);
    if (std::isinf(x)) return fmt::format("{}infinity_{}()", x < 0 ? "-" : "", bits);
    auto text = narrow ? fmt::format("{}", static_cast<float>(x)) : fmt::format("{}", x);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return narrow ? text + "f" : text;
  };
  if (is_real(type)) return real(value.real());
  return fmt::format("{}{{{}, {}}}", name(type), real(value.real()), real(value.imag()));
}

std::string literal(std::uint64_t bits, DType type) {
  const auto number = static_cast<std::int64_t>(bits);
  // C has no negative literals, and none of the smallest value without its sign.
  if (type == DType::i32 && number == std::numeric_limits<std::int32_t>::min()) return "(i32)0x80000000u";
  if (type == DType::i64 && number == std::numeric_limits<std::int64_t>::min()) return "(i64)0x8000000000000000ULL";
  if (type == DType::i32) return fmt::format("{}", number);
  if (type == DType::u64 && number < 0) return fmt::format("(u64){}ULL", bits);
  return fmt::format("({}){}{}", name(type), number, size_of(type) == 8 ? "LL" : "");
}

std::string kernel_name(const Program& program) {
  const auto& statement = program.statement();
  const auto out = program.buffers[static_cast<std::size_t>(statement.buffer)].type;
  const auto loads = loads_of(program);
  // A copy names all axes, repeated ones too; in other kernels each operand has only some of them.
  const bool moves = loads.size() == 1;
  std::string name = ricci::name(out);
  if (program.statements.size() > 1) {
    name += fmt::format("_{}_outputs_of_{}_loads", program.statements.size(), loads.size());
  } else {
    if (!loads.empty()) {
      if (loads.front()->type != out) name = fmt::format("{}_{}", ricci::name(loads.front()->type), name);
      constexpr std::size_t kNamed = 3;
      for (std::size_t k = 0; k < std::min(loads.size(), kNamed); ++k) {
        if (loads[k]->source == statement.buffer && k > 0) continue;  // what is added to
        const auto order = axis_order(program, loads[k]->offset, moves);
        if (!order.empty()) name += '_' + order;
      }
    }
    const auto order = axis_order(program, statement.offset, moves);
    name += order.empty() ? "_scalar" : "_to_" + order;
  }
  std::vector<std::tuple<std::size_t, std::string, std::int64_t>> extents;
  for (const auto& index : program.indices) extents.emplace_back(index.name.size(), index.name, index.extent);
  std::sort(extents.begin(), extents.end());
  constexpr std::size_t kShown = 12;
  for (std::size_t k = 0; k < std::min(extents.size(), kShown); ++k) {
    name += fmt::format("{}{}", k == 0 ? "_" : "x", std::get<2>(extents[k]));
  }
  // A function name has letters, digits and underscores only; assemblers limit the length of lines.
  constexpr std::size_t kLongest = 160;
  for (auto& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name.substr(0, kLongest);
}

std::string portable_prelude(const Program& program) {
  bool arithmetic = false, scalar = false, cast = false;
  for (const auto& node : program.nodes) {
    if (node.kind == NodeKind::load || node.kind == NodeKind::param) continue;
    const auto is = [&](OpCode op) { return node.kind == NodeKind::op && node.op == op; };
    cast = cast || is(OpCode::cast);
    arithmetic = arithmetic || !is(OpCode::cast);
    // Plain sums need only the functions that products need.
    const bool sum = node.kind == NodeKind::reduce && node.op == OpCode::add;
    scalar = scalar ||
             !(sum || is(OpCode::cast) || is(OpCode::add) || is(OpCode::mul) || is(OpCode::scale) || is(OpCode::conj));
  }
  std::string text = prelude::kTypes;
  if (cast) text += fmt::format("\n{}", prelude::kHalf);
  if (arithmetic) text += fmt::format("\n{}", prelude::kArithmetic);
  if (scalar) text += fmt::format("\n{}", prelude::kScalar);
  if (cast) text += fmt::format("\n{}", prelude::kCast);
  return text + '\n';
}

std::string head_text(const Program& program, const kernel::Schedule& schedule, const std::string& kernel,
                      const Notes& notes) {
  auto text = fmt::format("// {}        made by ricci {} for {}; do not edit\n", kernel, RICCI_VERSION, notes.target);
  const auto block = [&](const char* title, const std::string& lines) {
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line); title = "") text += fmt::format("// {:<10} {}\n", title, line);
  };
  std::vector<std::string> extents;
  for (const auto& index : program.indices) extents.push_back(fmt::format("{}={}", index.name, index.extent));
  constexpr std::ptrdiff_t kLines = 40;
  const auto lines = ir::print(program);
  const bool few = std::count(lines.begin(), lines.end(), '\n') <= kLines;
  block("problem", few ? lines
                       : fmt::format("{} statements over {} loads and {} operations; `ricci show` prints them",
                                     program.statements.size(), loads_of(program).size(), program.nodes.size()));
  block("extents", fmt::format("{}", fmt::join(extents, " ")));
  block("plan", notes.plan);
  const auto traffic = ir::traffic_of(program);
  const auto read = ir::bytes_of(program, traffic.read), written = ir::bytes_of(program, traffic.written);
  block("traffic", fmt::format("{} B (read {}, write {})", read + written, read, written));
  std::int64_t largest = 0;
  for (const auto& buffer : program.buffers) largest = std::max({largest, buffer.last, -buffer.first});
  block("index",
        fmt::format("{}: largest offset {}", largest < (std::int64_t{1} << 31) ? "32 bits" : "64 bits", largest));
  block("schedule", schedule.name);
  // Of what moves elements, one statement, the name says how.
  if (!kernel::has_write(schedule.directives)) block("", kernel::print(schedule.directives));
  block("reproduce", notes.reproduce);
  return text;
}

}  // namespace ricci::codegen
