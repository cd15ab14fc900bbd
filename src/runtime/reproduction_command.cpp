// The reproduction command in a kernel's head: an einsum where the canonical program is one, else a program's file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "ir/passes/canonical.hpp"
#include "ir/passes/precision.hpp"
#include "lower/einsum.hpp"
#include "ricci/error.hpp"
#include "runtime/runtime_impl.hpp"

namespace ricci::runtime {
namespace {

using ir::Factor;
using ir::Node;
using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

/// A product of loads, summed, with factors: what an einsum of these buffers computes.
struct Product {
  std::vector<NodeId> loads;
  std::vector<bool> conjugate;
  Factor alpha = Factor::one, beta = Factor::zero;
};

class Reader {
 public:
  explicit Reader(const ir::Program& program) : program_(program) {}

  /// Nothing when the program is not an einsum.
  std::optional<Product> read() {
    if (program_.statements.size() != 1) return {};
    NodeId value = uncast(program_.statement().value);
    if (is(value, OpCode::add)) {
      const NodeId x = node(value).operand[0], y = node(value).operand[1];
      if (read_beta(y)) {
        value = x;
      } else if (read_beta(x)) {
        value = y;
      } else {
        return {};
      }
    }
    value = uncast(value);
    if (const NodeId rest = scaled_by(value, "alpha"); rest >= 0) {
      product_.alpha = Factor::any;
      value = uncast(rest);
    }
    if (node(value).kind == NodeKind::reduce && node(value).op == OpCode::add) value = node(value).operand[0];
    if (!read_factors(value)) return {};
    return product_;
  }

 private:
  const Node& node(NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  bool is(NodeId id, OpCode op) const { return node(id).kind == NodeKind::op && node(id).op == op; }
  NodeId uncast(NodeId id) const {
    while (is(id, OpCode::cast)) id = node(id).operand[0];
    return id;
  }
  bool loads_output(NodeId id) const {
    return node(id).kind == NodeKind::load && node(id).source == program_.statement().buffer;
  }

  /// The other operand of `name * x`, or -1.
  NodeId scaled_by(NodeId id, const char* name) const {
    if (!is(id, OpCode::scale)) return -1;
    const auto& factor = node(node(id).operand[0]);
    const bool named =
        factor.kind == NodeKind::param && program_.params[static_cast<std::size_t>(factor.source)].name == name;
    return named ? node(id).operand[1] : -1;
  }

  bool read_beta(NodeId id) {
    id = uncast(id);
    const NodeId rest = scaled_by(id, "beta");
    if (!loads_output(uncast(rest >= 0 ? rest : id))) return false;
    product_.beta = rest >= 0 ? Factor::any : Factor::one;
    return true;
  }

  bool read_factors(NodeId id) {
    id = uncast(id);
    if (is(id, OpCode::mul)) return read_factors(node(id).operand[0]) && read_factors(node(id).operand[1]);
    const bool conjugate = is(id, OpCode::conj);
    if (conjugate) id = uncast(node(id).operand[0]);
    if (node(id).kind != NodeKind::load || loads_output(id)) return false;
    product_.loads.push_back(id);
    product_.conjugate.push_back(conjugate);
    return true;
  }

  const ir::Program& program_;
  Product product_;
};

/// The term of a tensor in a spec, axes by falling stride of its affine, and its layout.
struct StridedTerm {
  Spec::Term term;
  Layout layout;
};

StridedTerm strided_term(const ir::Program& program, const ir::Buffer& buffer, const ir::Affine& offset,
                         const std::vector<bool>& kept) {
  StridedTerm result;
  result.layout.type = buffer.type;
  result.layout.alignment = buffer.alignment;
  for (const auto q : ir::by_falling_stride(offset, kept)) {
    result.term.push_back({program.indices[q].name});
    result.layout.extents.push_back(program.indices[q].extent);
    result.layout.strides.push_back(offset.coefficient[q]);
  }
  return result;
}

std::string spell(const Spec::Term& term, bool words) {
  std::string text;
  for (const auto& axis : term) text += (words && !text.empty() ? " " : "") + axis.name;
  return text;
}

/// "C", or the strides.
std::string strides_text(const Layout& layout) {
  const bool dense = layout.strides == Layout::row_major(layout.type, layout.extents).strides;
  return dense ? "C" : fmt::format("{}", fmt::join(layout.strides, ","));
}

/// One word if all are equal, else one for each.
std::string list_text(const std::vector<std::string>& words, const char* separator) {
  const bool same = std::all_of(words.begin(), words.end(), [&](const auto& word) { return word == words.front(); });
  return words.size() > 1 && !same ? fmt::format("{}", fmt::join(words, separator)) : words.front();
}

/// In what an einsum is this program, if it is.
std::optional<Precision> precision_of(ir::EinsumProblem problem, const ir::Program& program) {
  const auto text = ir::print(program);
  for (const auto precision :
       {program.precision, Precision::f32, Precision::f64, Precision::bf16, Precision::f16, Precision::i32}) {
    problem.precision = precision;
    try {
      auto made =
          ir::canonicalise(ir::in_precision(ir::sequence_of(ir::lower(problem)), precision).steps.front().program);
      made.precision = program.precision;
      if (ir::print(made) == text) return precision;
    } catch (const PlanError&) {
      // The precision is for other types.
    }
  }
  return std::nullopt;
}

std::string einsum_command(const ir::Program& program, const Product& product) {
  // An axis that no operand depends on is a broadcast axis of the first operand.
  std::vector<bool> nobody(program.indices.size(), true), none(program.indices.size());
  for (const auto load : product.loads) {
    const auto& offset = program.nodes[static_cast<std::size_t>(load)].offset;
    for (std::size_t q = 0; q < nobody.size(); ++q) nobody[q] = nobody[q] && offset.coefficient[q] == 0;
  }
  ir::EinsumProblem problem;
  problem.alpha = product.alpha;
  problem.beta = product.beta;
  problem.conjugate = product.conjugate;
  for (std::size_t k = 0; k < product.loads.size(); ++k) {
    const auto& load = program.nodes[static_cast<std::size_t>(product.loads[k])];
    auto one = strided_term(program, program.buffers[static_cast<std::size_t>(load.source)], load.offset,
                            k == 0 ? nobody : none);
    problem.spec.operands.push_back(std::move(one.term));
    problem.inputs.push_back(std::move(one.layout));
  }
  const auto& statement = program.statement();
  auto out = strided_term(program, program.buffers[static_cast<std::size_t>(statement.buffer)], statement.offset, none);
  problem.spec.output = std::move(out.term);
  problem.output = std::move(out.layout);
  const bool words = program.indices.size() > 26;
  std::string spec;
  for (const auto& term : problem.spec.operands) spec += (spec.empty() ? "" : ",") + spell(term, words);
  spec += "->" + spell(problem.spec.output, words);
  problem.spec = Spec::parse(spec);
  // Check that the einsum lowers to this very program before claiming so, in one precision or another.
  const auto precision = precision_of(problem, program);
  if (!precision) return {};

  std::string text = fmt::format("ricci show '{}'", spec);
  std::vector<std::string> said;
  for (std::size_t k = 0; k < problem.inputs.size(); ++k) {
    for (std::size_t axis = 0; axis < problem.spec.operands[k].size(); ++axis) {
      const auto& name = problem.spec.operands[k][axis].name;
      if (std::find(said.begin(), said.end(), name) != said.end()) continue;
      said.push_back(name);
      text += fmt::format(" {}={}", name, problem.inputs[k].extents[axis]);
    }
  }
  std::vector<std::string> types, strides, alignments;
  bool usual = true;
  for (const auto& layout : problem.inputs) {
    types.emplace_back(name(layout.type));
    strides.push_back(strides_text(layout));
    alignments.push_back(fmt::format("{}", layout.alignment));
    usual = usual && layout.alignment == 16;
  }
  text += fmt::format(" --dtype {}", list_text(types, ","));
  if (problem.output.type != ir::result_row_major(problem.spec, problem.inputs).type) {
    text += fmt::format(" --out-dtype {}", name(problem.output.type));
  }
  if (const auto list = list_text(strides, ";"); list != "C") {
    const bool quoted = list.find(';') != std::string::npos;
    text += fmt::format(" --strides-in={0}{1}{0}", quoted ? "'" : "", list);
  }
  if (const auto list = strides_text(problem.output); list != "C") text += fmt::format(" --strides-out={}", list);
  alignments.push_back(fmt::format("{}", problem.output.alignment));
  if (!usual || problem.output.alignment != 16) text += fmt::format(" --align {}", list_text(alignments, ","));
  std::vector<std::string> conjugated;
  for (std::size_t k = 0; k < problem.conjugate.size(); ++k) {
    if (problem.conjugate[k]) conjugated.push_back(fmt::format("{}", k + 1));
  }
  if (!conjugated.empty() && problem.inputs.size() == 1) text += " --conj";
  if (!conjugated.empty() && problem.inputs.size() > 1) text += fmt::format(" --conj={}", fmt::join(conjugated, ","));
  if (problem.alpha == Factor::any) text += " --alpha any";
  if (problem.beta == Factor::any) text += " --beta any";
  if (problem.beta == Factor::one) text += " --beta 1";
  if (*precision != Precision::operands) text += fmt::format(" --precision {}", name(*precision));
  return text;
}

}  // namespace

std::string reproduction_command(const ir::Program& program, const kernel::Schedule& schedule, const Target& target) {
  const auto where =
      (target.device == Device::cpu ? std::string(" --device cpu") : fmt::format(" --target sm_{}", target.sm)) +
      fmt::format(" --schedule '{}'", schedule.name);
  const auto product = Reader(program).read();
  // More operands would be multiplied pair by pair.
  if (product && product->loads.size() <= 2) {
    try {
      // CPU kernels ignore alignments.
      auto padded = program;
      if (target.device == Device::cpu) {
        for (auto& buffer : padded.buffers) buffer.alignment = 16;
      }
      if (const auto command = einsum_command(padded, *product); !command.empty()) return command + where;
    } catch (const Error&) {
      // Not expressible as an einsum, overlapping views for example.
    }
  }
  const auto precision = program.precision == Precision::operands
                             ? std::string()
                             : fmt::format(" --precision {}", name(program.precision));
  return "ricci show PROGRAM" + precision + where + "    (PROGRAM: a file with the statements above)";
}

}  // namespace ricci::runtime
