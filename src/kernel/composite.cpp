#include "kernel/composite.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/passes/canonical.hpp"
#include "ir/passes/copy_operand.hpp"
#include "ir/passes/copy_result.hpp"
#include "kernel/contraction.hpp"
#include "kernel/matrix_product.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

using Kind = Directive::Kind;

/// The node whose values a copy holds: an operand of the product, converted and conjugated, or the sum of products.
ir::NodeId copied_node(const ir::Program& program, const Directive& directive) {
  const auto contraction = contraction_of(program);
  if (!contraction) refuse(directive, "the program is no contraction");
  const auto name_of = [&](int buffer) { return program.buffers[static_cast<std::size_t>(buffer)].name; };
  const auto node = [&](ir::NodeId id) -> const ir::Node& { return program.nodes[static_cast<std::size_t>(id)]; };
  if (directive.subject == name_of(program.statement().buffer)) return contraction->reduce;
  const auto& sum = node(contraction->reduce);
  const auto& product = sum.kind == ir::NodeKind::reduce ? node(sum.operand[0]) : sum;
  const bool first = directive.subject == name_of(node(contraction->first.load).source);
  const bool second = directive.subject == name_of(node(contraction->second.load).source);
  if (first == second) refuse(directive, first ? "both operands are that tensor" : "no operand has that name");
  return product.operand[first ? 0 : 1];
}

/// The free indices that a node's value depends on.
std::vector<bool> depends_on(const ir::Program& program, ir::NodeId id) {
  const auto& node = program.nodes[static_cast<std::size_t>(id)];
  std::vector<bool> on(program.indices.size());
  if (node.kind == ir::NodeKind::load) {
    for (std::size_t q = 0; q < on.size(); ++q) on[q] = node.offset.coefficient[q] != 0;
    return on;
  }
  for (int k = 0; k < ir::operand_count(node); ++k) {
    const auto below = depends_on(program, node.operand[k]);
    for (std::size_t q = 0; q < on.size(); ++q) on[q] = on[q] || below[q];
  }
  for (const int q : node.over) on[static_cast<std::size_t>(q)] = false;
  return on;
}

std::vector<int> order_of(const ir::Program& program, ir::NodeId id, const Directive& directive) {
  const auto on = depends_on(program, id);
  std::vector<int> order;
  for (const auto& name : directive.loops.front().second) {
    const auto place = std::find_if(program.indices.begin(), program.indices.end(),
                                    [&](const ir::LoopIndex& index) { return index.name == name; });
    const auto q = static_cast<int>(place - program.indices.begin());
    if (place == program.indices.end() || !on[static_cast<std::size_t>(q)] ||
        std::find(order.begin(), order.end(), q) != order.end()) {
      refuse(directive, fmt::format("{} is no index of it, or stands there twice", name));
    }
    order.push_back(q);
  }
  if (order.size() != static_cast<std::size_t>(std::count(on.begin(), on.end(), true)))
    refuse(directive, "an array has all indices of what it holds");
  return order;
}

}  // namespace

bool is_library_product(const Schedule& schedule) noexcept {
  return !schedule.directives.empty() && schedule.directives.back().kind == Kind::library;
}

bool is_composite(const Schedule& schedule) noexcept {
  return is_library_product(schedule) ||
         (!schedule.directives.empty() && schedule.directives.front().kind == Kind::copy);
}

void add_copy(Composite& composite, const Directive& directive) {
  auto& [sequence, product, rest] = composite;
  const auto& step = sequence.steps[product].program;
  const auto precision = step.precision;
  const auto node = copied_node(step, directive);
  const bool result = node == contraction_of(step)->reduce;
  const auto order = order_of(step, node, directive);
  sequence =
      result ? ir::copy_result(sequence, product, node, order, 0) : ir::copy_operand(sequence, product++, node, order);
  sequence.steps[product].program.precision = precision;
}

Composite composite_of(const ir::Program& program, const Schedule& schedule) {
  Composite made{ir::sequence_of(program)};
  made.rest.name = schedule.name;
  auto& behind = made.rest.directives;
  for (const auto& directive : schedule.directives) {
    if (directive.kind == Kind::copy && !behind.empty()) refuse(directive, "copies come before all else");
    directive.kind == Kind::copy ? add_copy(made, directive) : behind.push_back(directive);
  }
  return made;
}

void verify_composite(const ir::Program& program, const Schedule& schedule, Target target, bool each) {
  const auto made = composite_of(program, schedule);
  const auto rest = made.canonical(made.product).program;
  if (!is_library_product(schedule)) return verify(made.rest, rest, target, each);
  const auto& directive = made.rest.directives.front();
  if (made.rest.directives.size() > 1 || directive.subject != "gemm")
    refuse(directive, "a library's product is \"library gemm\", and stands alone behind copies");
  if (!matrix_product_of(rest))
    refuse(directive,
           "what is left to multiply is no matrix product: copy operands, or the result, so that rows, columns "
           "and depth are an index each");
}

}  // namespace ricci::kernel
