#include "plan/enumerate/plain_staged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "kernel/program/staged.hpp"

namespace ricci::plan {
namespace {

using kernel::Directive;

std::int64_t step(const ir::Affine& offset, int q) { return std::abs(offset.coefficient[static_cast<std::size_t>(q)]); }

/// The index of several values that moves an offset least; -1: none does.
int fastest_of(const ir::Affine& offset, const ir::Program& program) {
  int fastest = -1;
  for (int q = 0; q < static_cast<int>(program.indices.size()); ++q) {
    if (step(offset, q) == 0 || program.indices[static_cast<std::size_t>(q)].extent < 2) continue;
    if (fastest < 0 || step(offset, q) < step(offset, fastest)) fastest = q;
  }
  return fastest;
}

}  // namespace

bool is_across(const ir::Affine& offset, const ir::Program& program, int fastest) {
  const int own = fastest_of(offset, program);
  return own >= 0 && own != fastest && step(offset, fastest) > 0;
}

std::vector<StagedTiles> staged_tiles(const ir::Program& program, const OperationCounts& counts) {
  if (counts.order.empty() || !kernel::reads_at_every_point(program)) return {};
  const int along = counts.order.front();
  std::vector<bool> across(program.indices.size());  // indices of neighbours that are read
  for (const auto& counted : counts.loads) {
    const auto& load = program.nodes[static_cast<std::size_t>(counted.node)];
    const bool written = program.buffers[static_cast<std::size_t>(load.source)].written;
    if (!written && is_across(load.offset, program, along))
      across[static_cast<std::size_t>(fastest_of(load.offset, program))] = true;
  }
  const auto extent = [&](int q) { return program.indices[static_cast<std::size_t>(q)].extent; };
  // Whole lines of what is read, and runs of results; of small extents no more than there is.
  struct Size {
    std::int64_t along, across;
  };
  std::vector<StagedTiles> list;
  for (const auto& [wide, high] : {Size{256, 64}, Size{128, 64}, Size{64, 64}, Size{64, 16}}) {
    StagedTiles one;
    one.tile.assign(program.indices.size(), 1);
    for (const int q : counts.order) {
      if (q != along && !across[static_cast<std::size_t>(q)]) continue;
      one.tile[static_cast<std::size_t>(q)] = std::min(extent(q), q == along ? wide : high);
      one.looped.push_back(q);
      one.text += fmt::format(" {}{}", program.indices[static_cast<std::size_t>(q)].name,
                              one.tile[static_cast<std::size_t>(q)]);
    }
    const bool tiled = std::any_of(counts.order.begin(), counts.order.end(),
                                   [&](int q) { return one.tile[static_cast<std::size_t>(q)] < extent(q); });
    if (one.looped.size() < 2 || !tiled) return list;
    const auto is_same = [&](const StagedTiles& other) { return other.tile == one.tile; };
    if (std::any_of(list.begin(), list.end(), is_same)) continue;
    // Of a buffer that is read in several ways arrays have the same dimensions, or it is read in place.
    std::map<int, std::vector<int>> dims;
    std::map<int, int> loads;
    std::vector<int> refused;
    for (const auto& counted : counts.loads) {
      const auto& load = program.nodes[static_cast<std::size_t>(counted.node)];
      if (program.buffers[static_cast<std::size_t>(load.source)].written) continue;
      std::vector<int> moved;
      for (auto k = one.looped.size(); k-- > 0;) {
        if (step(load.offset, one.looped[k]) > 0) moved.push_back(one.looped[k]);
      }
      if (moved.size() < 2 || moved.back() != along || !kernel::reads_across(load.offset, moved)) continue;
      const auto [place, added] = dims.emplace(load.source, moved);
      if (place->second != moved) refused.push_back(load.source);
      ++loads[load.source];
    }
    for (const int buffer : refused) dims.erase(buffer);
    if (dims.empty()) return list;
    for (const auto& [buffer, moved] : dims) {
      auto& stage = one.stages.emplace_back();
      stage.kind = Directive::Kind::stage;
      stage.subject = program.buffers[static_cast<std::size_t>(buffer)].name;
      stage.space = "scratch";
      auto& names = stage.loops.emplace_back("", std::vector<std::string>()).second;
      double elements = loads[buffer], reads = loads[buffer];
      for (const int q : moved) names.push_back(program.indices[static_cast<std::size_t>(q)].name);
      for (const int q : counts.order) {
        const bool again = std::find(moved.begin(), moved.end(), q) != moved.end();
        const auto tile = again ? 1 : one.tile[static_cast<std::size_t>(q)];
        const auto times = (extent(q) + tile - 1) / tile;
        elements *= static_cast<double>(times);
        reads *= static_cast<double>(extent(q));
      }
      one.elements += elements;
      one.reads += reads;
    }
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace ricci::plan
