#include "ir/traffic.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace ricci::ir {
namespace {

/// Elements of one buffer that a kernel touches: the lesser of the sum over its accesses and their common span.
struct Footprint {
  std::set<std::pair<decltype(Affine::coefficient), std::int64_t>> accesses;  // each offset once
  std::int64_t sum = 0;

  void add(const Affine& offset, std::int64_t elements) {
    if (accesses.emplace(offset.coefficient, offset.constant).second) sum += elements;
  }
};

}  // namespace

Traffic traffic_of(const Program& program) {
  std::vector<Footprint> reads(program.buffers.size()), writes(program.buffers.size());
  for (const auto& node : program.nodes) {
    if (node.kind != NodeKind::load) continue;
    reads[static_cast<std::size_t>(node.source)].add(node.offset, reached(node.offset, program.indices));
  }
  for (const auto& statement : program.statements) {
    const auto& value = program.nodes[static_cast<std::size_t>(statement.value)];
    auto elements = reached(statement.offset, program.indices);
    if (value.kind == NodeKind::scan || value.kind == NodeKind::compact) {
      const auto extent = program.indices[static_cast<std::size_t>(value.over.front())].extent;
      elements *= extent + (value.exclusive ? 1 : 0);  // of a compaction: at most
    }
    writes[static_cast<std::size_t>(statement.buffer)].add(statement.offset, elements);
  }
  Traffic traffic;
  for (std::size_t k = 0; k < program.buffers.size(); ++k) {
    const auto span = std::max<std::int64_t>(program.buffers[k].last - program.buffers[k].first + 1, 0);
    traffic.read.push_back(std::min(reads[k].sum, span));
    traffic.written.push_back(std::min(writes[k].sum, span));
  }
  return traffic;
}

std::int64_t bytes_of(const Program& program, const std::vector<std::int64_t>& elements) noexcept {
  std::int64_t bytes = 0;
  for (std::size_t k = 0; k < elements.size(); ++k) bytes += elements[k] * size_of(program.buffers[k].type);
  return bytes;
}

}  // namespace ricci::ir
