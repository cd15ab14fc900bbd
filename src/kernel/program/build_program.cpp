#include "kernel/program/build_program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernel/expand.hpp"
#include "kernel/extensions.hpp"
#include "kernel/program/loops.hpp"
#include "kernel/program/point.hpp"
#include "kernel/program/targets.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

/// Of the register arrays in a body that live at once.
std::int64_t most_register_bytes(const Kernel& kernel, const Body& body) {
  std::int64_t declared = 0, most = 0;
  for (const auto& statement : body) {
    if (const auto* node = std::get_if<Declare>(&statement.node)) declared += stack_bytes(kernel.array(node->array));
    std::int64_t inside = 0;
    for_each_body(statement, [&](const Body& inner) { inside = std::max(inside, most_register_bytes(kernel, inner)); });
    most = std::max(most, declared + inside);
  }
  return most;
}

}  // namespace

Kernel build_program(const ir::Program& program, Directives directives, Target target, std::size_t count) {
  if (program.indices.size() > kMostIndices) {
    throw PlanError(fmt::format("{} indices in one kernel; {} is the most", program.indices.size(), kMostIndices));
  }
  const auto added = take_added(directives, count);
  const auto loops = loops_of(program, directives, target, count);
  const auto is_order = [](const Directive& directive) { return directive.kind == Directive::Kind::order; };
  const auto refuse_order = [&](const std::string& rule) {  // which says what is a task, and what is left for registers
    const auto order = std::find_if(directives.begin(), directives.end(), is_order);
    if (order != directives.end()) refuse(*order, rule);
    throw PlanError("schedule: " + rule);
  };
  if (const auto tiles = loops.tiles(program); target == Target::cuda && tiles > kMostBlocks)
    refuse_order(fmt::format("{} tiles are more than a launch takes (2^31 - 1)", tiles));
  auto kernel = target == Target::cuda ? build_cuda(program, loops) : build_cpu(program, loops);
  const auto rule = target == Target::cpu ? broken_by_stack(most_register_bytes(kernel, kernel.body)) : "";
  if (!rule.empty()) refuse_order("registers of a worker " + rule);
  // Every loop that is not one of a worker alone stands in the order.
  for (std::size_t k = 0; k < std::min(count, directives.size()); ++k) {
    kernel.directives.push_back(print(directives[k]));
    if (is_order(directives[k])) made_by(kernel.body, static_cast<int>(k));
  }
  return rewritten(std::move(kernel), added);
}

}  // namespace ricci::kernel
