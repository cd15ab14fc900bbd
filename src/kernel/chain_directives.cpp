// What directives of a chain say, and the rules between them.
#include <fmt/format.h>

#include <tuple>

#include "kernel/build_chain.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

using Kind = Directive::Kind;

int chain_padding(std::int64_t along) { return along / kChainChunk % 2 == 0 ? static_cast<int>(kChainChunk) : 0; }

ChainTiles chain_tiles(const Chain& chain, const Directives& directives) {
  ChainTiles tiles;
  const auto& indices = chain.program.indices;
  const auto name = [&](int q) { return indices[nth(q)].name; };
  int atoms = 0, stages = 0;
  bool ordered = false, warped = false;
  for (const auto& d : directives) {
    if (d.kind == Kind::tile && d.subject == name(chain.rows) && d.sizes.size() == 1) {
      tiles.rows = d.sizes.front();
    } else if (d.kind == Kind::tile && d.subject == name(chain.columns) && d.sizes.size() == 1) {
      tiles.columns = d.sizes.front();
      if (tiles.columns % (2 * kChainColumns) != 0)
        refuse(d, fmt::format("columns of a round are multiples of {}", 2 * kChainColumns));
    } else if (d.kind == Kind::pipeline) {
      tiles.stages = static_cast<int>(d.sizes.front());
      if (tiles.stages < 2) refuse(d, "columns of two rounds and more have a place");
    } else if (d.kind == Kind::atom) {
      if (++atoms > 2) refuse(d, "a chain has two products");
      const auto factor = atoms == 1 ? chain.y : chain.v;
      if (atoms == 1) tiles.groups = d.subject == chain_atom(chain, factor, true);
      if (d.subject != chain_atom(chain, factor, tiles.groups)) refuse(d, "its factors are of another type");
      if (d.warps[1] != 1 || (warped && d.warps[0] != tiles.warps)) refuse(d, "warps share the rows, of both products");
      tiles.warps = d.warps[0];
      tiles.blocks = d.blocks;
      warped = true;
    } else if (d.kind == Kind::order) {
      ordered = true;
    } else if (d.kind == Kind::stage) {
      ++stages;
    } else {
      refuse_misplaced(d);
    }
  }
  if (tiles.rows == 0 || tiles.columns == 0 || atoms != 2 || stages < 2 || !ordered)
    throw PlanError("schedule: a chain has tiles of rows and columns, an order, two staged operands and two atoms");
  return tiles;
}

std::string chain_atom(const Chain& chain, ir::NodeId factor, bool groups) {
  const auto type = ricci::name(chain.node(factor).type);
  return fmt::format("{}_{}", !groups ? "m16n8k16" : factor == chain.v ? "wgmma_rs" : "wgmma", type);
}

std::string chain_layout_fault(const Chain& chain) {
  const auto extent = [&](int q) { return chain.program.indices[nth(q)].extent; };
  if (extent(chain.depth) % kChainDepth != 0) return "atoms divide the depth";
  if (extent(chain.values) % kChainColumns != 0) return "atoms divide the columns of values";
  const auto aligned = [&](ir::NodeId load, int along, std::int64_t chunk) {
    const auto& node = chain.node(load);
    bool whole =
        chain.program.buffers[nth(node.source)].alignment % (2 * chunk) == 0 && node.offset.constant % chunk == 0;
    for (std::size_t q = 0; q < node.offset.coefficient.size(); ++q)
      whole = whole && (static_cast<int>(q) == along || node.offset.coefficient[q] % chunk == 0);
    return whole;
  };
  if (!aligned(chain.x, chain.depth, 2) || !aligned(chain.y, chain.depth, kChainChunk) ||
      !aligned(chain.v, chain.values, kChainChunk))
    return "rows in memory begin at multiples of 16 bytes";
  return {};
}

Directives chain_directives(const Chain& chain, const ChainTiles& tiles) {
  const auto& indices = chain.program.indices;
  const auto name = [&](int q) -> const std::string& { return indices[nth(q)].name; };
  const auto operand = [&](ir::NodeId load) { return chain.program.buffers[nth(chain.node(load).source)].name; };
  Directives made;
  const auto tile = [&](int q, std::int64_t size) {
    Directive d;
    d.kind = Kind::tile;
    d.subject = name(q);
    d.sizes = {size};
    made.push_back(std::move(d));
  };
  tile(chain.rows, tiles.rows);
  tile(chain.columns, tiles.columns);
  Directive order;
  order.kind = Kind::order;
  std::vector<std::string> tasks;
  for (const int q : chain.batch) tasks.push_back(name(q));
  tasks.push_back(name(chain.rows) + "0");
  order.loops = {{"task", std::move(tasks)}, {"serial", {name(chain.columns) + "0"}}};
  made.push_back(std::move(order));
  for (const auto& [load, along, across] :
       {std::tuple{chain.x, chain.depth, chain.rows}, std::tuple{chain.y, chain.depth, chain.columns},
        std::tuple{chain.v, chain.values, chain.columns}}) {
    if (load == chain.x && !tiles.groups) continue;
    Directive stage;
    stage.kind = Kind::stage;
    stage.subject = operand(load);
    stage.at = name(across) + "0";
    stage.space = tiles.groups ? "maps" : "async";
    stage.loops = {{"", {name(across), name(along)}}};
    if (!tiles.groups) stage.padding = chain_padding(indices[nth(along)].extent);
    made.push_back(std::move(stage));
  }
  Directive pipeline;
  pipeline.kind = Kind::pipeline;
  pipeline.subject = name(chain.columns) + "0";
  pipeline.sizes = {tiles.stages};
  made.push_back(std::move(pipeline));
  for (const bool first : {true, false}) {
    Directive atom;
    atom.kind = Kind::atom;
    atom.subject = chain_atom(chain, first ? chain.y : chain.v, tiles.groups);
    atom.loops = {{"rows", {name(chain.rows)}},
                  {"columns", {name(first ? chain.columns : chain.values)}},
                  {"depth", {name(first ? chain.depth : chain.columns)}}};
    atom.warps = {tiles.warps, 1};
    atom.blocks = tiles.blocks;
    if (!first) atom.parts = chain.parts;
    made.push_back(std::move(atom));
  }
  return made;
}

}  // namespace ricci::kernel
