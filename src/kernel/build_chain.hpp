// Chains as kernels for a GPU: a block has rows, goes over the columns, and keeps scores and sums in registers.
#pragma once

#include "kernel/chain.hpp"
#include "kernel/directives.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// Of the atom of both products; elements of 16 bytes, which copies move.
inline constexpr std::int64_t kChainRows = 16, kChainColumns = 8, kChainDepth = 16, kChainChunk = 8;
inline constexpr std::int64_t kChainGroupRows = 64;  ///< of a warp group

/// The numbers that directives of a chain say.
struct ChainTiles {
  std::int64_t rows = 0, columns = 0;  ///< of a block, of a round
  int warps = 1;                       ///< which share the rows
  int stages = 2;                      ///< places of what is staged
  int blocks = 1;                      ///< of a multiprocessor, for whose registers there is room
  bool groups = false;                 ///< warp groups multiply, four warps each, and tensor maps copy
};
/// The directives that say them.
Directives chain_directives(const Chain& chain, const ChainTiles& tiles);
/// What a list of them says. Throws PlanError naming the directive whose rule does not hold.
ChainTiles chain_tiles(const Chain& chain, const Directives& directives);
/// What parts rows of so many elements in shared memory: odd numbers of 16 bytes meet in no bank.
int chain_padding(std::int64_t along);
/// The atom of a product with that second factor, by mma.sync or by warp groups.
std::string chain_atom(const Chain& chain, ir::NodeId factor, bool groups);
/// The rule that keeps tensor cores from a chain: sizes of atoms, and rows of 16 bytes in memory; empty: none.
std::string chain_layout_fault(const Chain& chain);

/// Elements of a row of shared memory that a warp group reads, of so many neighbours: 64, 32 or 16; 0: none.
std::int64_t chain_row(std::int64_t along);
/// What copies so many rows (of x) or columns (of y and v) of a factor.
TensorMap chain_map(const Chain& chain, ir::NodeId factor, std::int64_t lines);
/// The rule that keeps warp groups from a chain with such tiles; empty: none.
std::string chain_group_fault(const Chain& chain, const ChainTiles& tiles);

/// Its tree of native statements; of fewer directives than all an empty one. Throws PlanError naming the directive
/// whose rule does not hold.
Kernel build_chain(const ir::Program& program, const Chain& chain, const Directives& directives, Target target,
                   std::size_t count = kAll);

}  // namespace ricci::kernel
