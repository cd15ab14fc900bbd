// An engine inside of a program that runs StarPU-MPI itself, on some of its ranks. Ends with status 0 where results are
// right.
#include <starpu_mpi.h>

#include <cstdio>
#include <numeric>

#include "ricci/dist.hpp"

namespace {

bool product_is_right(const MPI_Comm& comm) {
  using namespace ricci;
  dist::Engine engine({.comm = &comm});
  const auto grid = engine.grid({engine.size()});
  auto a = engine.tensor(DType::f64, {6, 6}, {2}, grid.cyclic({{0}}));
  auto b = engine.tensor_like(a), c = engine.tensor_like(a);
  const auto one = [](const dist::Tile& tile, void* to) {
    std::fill_n(static_cast<double*>(to), tile.extents[0] * tile.extents[1], 1.0);
  };
  a.fill(one);
  b.fill(one);
  engine.plan_einsum("ik,kj->ij", {a, b}, c)();  // the plan may go before its tasks
  double sums[36] = {};
  c.gather(sums, 0);
  const double sum = std::accumulate(sums, sums + 36, 0.0);
  std::printf("rank %d of %d: sum %g\n", engine.rank(), engine.size(), sum);
  return sum == (engine.rank() == 0 ? 36 * 6 : 0);
}

}  // namespace

int main() {
  int level = 0, rank = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (starpu_mpi_init_conf(nullptr, nullptr, 0, MPI_COMM_WORLD, nullptr) != 0) return 2;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : 1, rank, &part);
  const bool right = product_is_right(part) && product_is_right(part) && starpu_is_initialized() != 0;
  starpu_mpi_shutdown();
  MPI_Finalize();
  return right ? 0 : 1;
}
