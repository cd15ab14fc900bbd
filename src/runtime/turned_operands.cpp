#include "runtime/turned_operands.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ir/passes/canonical.hpp"
#include "ir/passes/copy_operand.hpp"
#include "plan/plan.hpp"

namespace ricci::runtime {
namespace {

/// A tensor that is read, and the order of its indices in another one.
struct Turned {
  ir::NodeId load = -1;
  std::vector<int> order;
  bool operator==(const Turned&) const = default;
};

/// Indices of a load by falling stride, without those of one value.
std::vector<int> order_of(const ir::Program& program, const ir::Node& load) {
  std::vector<int> order;
  for (const auto q : ir::by_falling_stride(load.offset, std::vector<bool>(program.indices.size(), false))) {
    if (program.indices[q].extent > 1) order.push_back(static_cast<int>(q));
  }
  return order;
}

/// What is read of a sum beside a tensor that has its indices, too, with another one fastest. Nothing of programs that
/// do not read at every point: a copy would read all.
std::vector<Turned> turned_loads(const ir::Program& program) {
  using enum ir::NodeKind;
  bool sums = false;
  struct Load {
    ir::NodeId id;
    std::vector<int> order;
  };
  std::vector<Load> loads;
  for (std::size_t k = 0; k < program.nodes.size(); ++k) {
    const auto& node = program.nodes[k];
    if (node.kind == guard || node.kind == scan || node.kind == compact) return {};
    sums = sums || node.kind == reduce;
    if (node.kind == load && !program.buffers[static_cast<std::size_t>(node.source)].written)
      loads.push_back({static_cast<ir::NodeId>(k), order_of(program, node)});
  }
  std::vector<Turned> found;
  for (const auto& across : loads) {
    for (const auto& along : loads) {
      if (!sums || across.order.size() < 2 || along.order.size() < across.order.size()) continue;
      auto order = along.order;
      std::erase_if(
          order, [&](int q) { return std::find(across.order.begin(), across.order.end(), q) == across.order.end(); });
      if (order.size() < across.order.size() || order.back() == across.order.back()) continue;
      Turned one{across.id, std::move(order)};
      if (std::find(found.begin(), found.end(), one) == found.end()) found.push_back(std::move(one));
    }
  }
  return found;
}

/// Whether so much is read that it does not stay in the second cache: what does is read across at little cost.
bool reads_much(const ir::Program& program, ir::NodeId id, const plan::CpuModel& device) {
  const auto& load = program.nodes[static_cast<std::size_t>(id)];
  return ir::reached(load.offset, program.indices) * size_of(load.type) > device.l2_bytes;
}

/// A step as a sequence of its own, whatever steps before it write.
ir::Sequence step_alone(const ir::Sequence& sequence, std::size_t k) {
  ir::Sequence alone{sequence.storages, sequence.params, {sequence.steps[k]}};
  for (auto& storage : alone.storages) {
    if (storage.role == ir::Role::workspace) storage.role = ir::Role::output;
  }
  return alone;
}

}  // namespace

std::optional<ir::Sequence> turned(const ir::Sequence& lowered, const plan::CpuModel& device,
                                   const ir::SplitLimits& limits, std::int64_t workspace_limit) {
  constexpr double kWorth = 1.1;  // how far predictions are to be trusted
  const auto us_of = [&](const ir::Sequence& sequence) {
    double us = 0;
    for (const auto& step : ir::split_long(sequence, limits).steps)
      us += plan::time_alone(ir::canonicalise(step.program), device).us;
    return us;
  };
  std::optional<ir::Sequence> made;
  for (std::size_t k = 0; k < (made ? *made : lowered).steps.size(); ++k) {
    const auto& sequence = made ? *made : lowered;
    const auto& program = sequence.steps[k].program;
    if (program.points() == 0) continue;
    auto loads = turned_loads(program);
    std::erase_if(loads, [&](const Turned& one) { return !reads_much(program, one.load, device); });
    if (loads.empty() || plan::time_alone(ir::canonicalise(program), device).tiles) continue;
    const auto whole = step_alone(sequence, k);
    const Turned* best = nullptr;
    double least = us_of(whole) / kWorth;
    for (const auto& one : loads) {
      const double us = us_of(ir::copy_operand(whole, 0, one.load, one.order));
      if (us >= least) continue;
      least = us;
      best = &one;
    }
    if (best == nullptr) continue;
    auto copied = ir::copy_operand(sequence, k, best->load, best->order);
    // The sum comes next again: another operand of it may be read across, too.
    if (copied.fits(workspace_limit)) made = std::move(copied);
  }
  return made;
}

}  // namespace ricci::runtime
