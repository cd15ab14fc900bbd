#include "runtime/program_counts.hpp"

#include <algorithm>
#include <map>

#include "ir/traffic.hpp"

namespace ricci::runtime {
namespace {

using ir::Node;
using ir::NodeKind;
using ir::OpCode;

std::vector<bool> used(const ir::Affine& offset) {
  std::vector<bool> indices;
  for (const auto coefficient : offset.coefficient) indices.push_back(coefficient != 0);
  return indices;
}

/// Additions and multiplications of real floats in one evaluation.
double flops_of(OpCode op, DType type) {
  if (is_integer(type)) return 0;
  const bool complex = is_complex(type);
  switch (op) {
    case OpCode::add:
    case OpCode::sub:
      return complex ? 2 : 1;
    case OpCode::mul:
    case OpCode::scale:
      return complex ? 6 : 1;
    case OpCode::div:
      return complex ? 11 : 1;
    default:
      return is_function(op) ? 1 : 0;
  }
}

/// flops and operations of a program.
ProgramCounts arithmetic_of(const ir::Program& program) {
  ProgramCounts counts;
  const auto indices = program.indices.size();
  std::vector<std::vector<bool>> depends(program.nodes.size(), std::vector<bool>(indices));
  for (std::size_t k = 0; k < program.nodes.size(); ++k) {
    const Node& node = program.nodes[k];
    auto& own = depends[k];
    if (node.kind == NodeKind::load) own = used(node.offset);
    if (node.kind == NodeKind::index) own[static_cast<std::size_t>(node.source)] = true;
    for (const auto operand : node.operand) {
      if (operand < 0) continue;
      for (std::size_t q = 0; q < indices; ++q) own[q] = own[q] || depends[static_cast<std::size_t>(operand)][q];
    }
    for (const auto q : node.over) own[static_cast<std::size_t>(q)] = true;
    if (node.kind == NodeKind::op || node.kind == NodeKind::reduce || node.kind == NodeKind::scan) {
      const auto times = static_cast<double>(program.points(own));
      counts.flops += times * flops_of(node.op, node.type);
      counts.operations += times;
    }
    if (node.kind == NodeKind::compact) counts.operations += static_cast<double>(program.points(own));
    for (const auto q : node.over) own[static_cast<std::size_t>(q)] = false;
  }
  return counts;
}

}  // namespace

ProgramCounts count_program(const ir::Program& program) {
  ProgramCounts counts = arithmetic_of(program);
  const auto traffic = ir::traffic_of(program);
  counts.bytes = ir::bytes_of(program, traffic.read) + ir::bytes_of(program, traffic.written);
  return counts;
}

ProgramCounts count_program(const ir::Sequence& sequence) {
  ProgramCounts counts;
  struct Touched {
    std::int64_t read = 0, written = 0;
  };
  std::map<int, Touched> storages;
  for (std::size_t s = 0; s < sequence.steps.size(); ++s) {
    const auto& step = sequence.steps[s];
    const auto* const slice = sequence.slice_of(s);
    const auto blocks = slice == nullptr ? 1 : slice->blocks();
    const auto arithmetic = arithmetic_of(step.program);
    counts.flops += static_cast<double>(blocks) * arithmetic.flops;
    counts.operations += static_cast<double>(blocks) * arithmetic.operations;
    const auto traffic = ir::traffic_of(step.program);
    for (std::size_t k = 0; k < step.storage.size(); ++k) {
      auto& storage = storages[step.storage[k]];
      // Elements written by an earlier step are not compulsory reads.
      if (storage.written == 0) storage.read += blocks * traffic.read[k];
      storage.written += blocks * traffic.written[k];
    }
  }
  for (const auto& [number, touched] : storages) {
    const auto& storage = sequence.storages[static_cast<std::size_t>(number)];
    if (storage.role == ir::Role::workspace) continue;
    const auto span = std::max<std::int64_t>(storage.last - storage.first + 1, 0);
    counts.bytes += (std::min(touched.read, span) + std::min(touched.written, span)) * size_of(storage.type);
  }
  return counts;
}

}  // namespace ricci::runtime
