// How long a text the steps of a product along its depth are.
#include <algorithm>

#include "kernel/expand_cuda.hpp"

namespace ricci::kernel::cuda {

std::int64_t steps_together(const Kernel& kernel, const Mma& mma, const WarpTile& tile, bool ahead, int texts) {
  constexpr std::int64_t kMostProducts = 80, kMostFmas = 1536;
  const bool complex_factors = is_complex(kernel.array(mma.a.array).type);
  const auto real = complex_factors || is_complex(kernel.array(mma.accumulator).type) ? mma.products : 1;
  const auto products_of_step = std::int64_t{tile.depth.block() / tile.depth.per_atom} * tile.rows.atoms() *
                                tile.columns.atoms() * real * operations_of(mma);
  const auto together = tile.fma() ? kMostFmas : complex_factors && ahead ? 3 * kMostProducts : kMostProducts;
  const auto most = std::max<std::int64_t>(together / (products_of_step * texts), 1);
  return rounds_together(tile.depth.blocks(), std::max<std::int64_t>(most / 2, 1), most);
}

}  // namespace ricci::kernel::cuda
