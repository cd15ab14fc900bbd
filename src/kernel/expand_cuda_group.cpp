// Products of a block's tile by warp groups: their instructions read both operands out of shared memory.
#include "kernel/expand_cuda.hpp"
#include "kernel/warp_group.hpp"

namespace ricci::kernel::cuda {

Body multiplied_by_groups(Threads& threads, const Mma& mma, const WarpTile& tile) {
  const auto& atom = *tile.atom;
  const std::int64_t rows = std::int64_t{atom.warps} * atom.m;
  const auto a = matrices_of(threads.kernel, mma.a, mma.rows, mma.depth, rows, atom.k);
  const auto b = matrices_of(threads.kernel, mma.b, mma.columns, mma.depth, tile.columns.padded, atom.k);
  const auto group = threads.digit("warp_group", rows / atom.m * kWarp, tile.rows.padded / rows);
  Body body{{Fence{mma.accumulator}}};
  for (std::size_t k = 0; k < a.steps.size(); ++k) {
    GroupMma product{mma.atom, {mma.accumulator, {Affine(0)}}, a.first, b.first};
    auto& of_a = product.a.start.index.front();
    of_a = of_a + a.of_rows * group + Affine(a.steps[k]);
    auto& of_b = product.b.start.index.front();
    of_b = of_b + Affine(b.steps[k]);
    body.push_back({std::move(product)});
  }
  body.push_back({Commit{true}});
  return body;
}

}  // namespace ricci::kernel::cuda
