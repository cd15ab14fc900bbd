#include "plan/enumerate/plain_directives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace ricci::plan {

using kernel::Directive;

Directive directive(Directive::Kind kind, std::vector<std::int64_t> sizes) {
  Directive one;
  one.kind = kind;
  one.sizes = std::move(sizes);
  return one;
}

kernel::Directives plain_loops(const ir::Program& program, const std::vector<int>& order,
                               const std::vector<int>& workers, const std::vector<PlainIndex>& indices,
                               kernel::Target target) {
  const bool cpu = target == kernel::Target::cpu;
  const auto worked = [&](int q) { return std::find(workers.begin(), workers.end(), q) != workers.end(); };
  kernel::Directives list;
  std::vector<std::string> tasks, inner(workers.size());
  for (auto k = order.size(); k-- > 0;) {
    const auto q = order[k];
    const auto& [name, extent] = program.indices[static_cast<std::size_t>(q)];
    const auto& [tile, registers, neighbours] = indices[static_cast<std::size_t>(q)];
    // Of a GPU threads take neighbours, and what is in registers is as far apart as the block is wide, or the other way
    // round; of a CPU a round takes neighbours.
    const bool inside = cpu || neighbours;
    const auto step = inside ? registers : tile / registers;
    const bool cut = worked(q) && registers > 1;
    std::vector<std::int64_t> sizes;
    if (tile < extent) sizes.push_back(tile);
    if (cut) sizes.push_back(step);
    if (sizes == std::vector{extent}) sizes.push_back(step);  // a loop of one round
    if (tile == 1) sizes.clear();
    if (tile < extent) tasks.push_back(sizes.empty() ? name : name + "0");
    if (!sizes.empty()) {
      list.push_back(directive(Directive::Kind::tile, sizes));
      list.back().subject = name;
    }
    for (std::size_t w = 0; w < workers.size(); ++w) {
      if (workers[w] == q) inner[w] = inside && cut ? fmt::format("{}{}", name, sizes.size() - 1) : name;
    }
  }
  std::reverse(inner.begin(), inner.end());
  auto& all = list.emplace_back();
  all.kind = Directive::Kind::order;
  if (!tasks.empty()) all.loops.emplace_back("task", std::move(tasks));
  if (!inner.empty()) all.loops.emplace_back(cpu ? "serial" : "thread", std::move(inner));
  return list;
}

}  // namespace ricci::plan
