// An engine inside of a program that runs StarPU-MPI itself, on some of its ranks. Ends with status 0 where results are
// right.
#include <starpu_mpi.h>

#include <cstdio>
#include <numeric>
#include <string>

#include "ricci/dist.hpp"
#include "ricci/error.hpp"

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

MPI_Comm part_of_world(int parts) {
  int rank = 0;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % parts, rank, &part);
  return part;
}

bool alone() { return product_is_right(MPI_COMM_WORLD) && product_is_right(MPI_COMM_WORLD); }

bool joined() {
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  if (starpu_mpi_init_conf(nullptr, nullptr, 0, MPI_COMM_WORLD, nullptr) != 0) return false;
  const auto part = part_of_world(2);
  const bool right = product_is_right(part) && product_is_right(part) && starpu_is_initialized() != 0;
  starpu_mpi_shutdown();
  MPI_Finalize();
  return right;
}

/// The text of the PlanError with which an engine does not start.
std::string refusal(const MPI_Comm& comm) {
  try {
    const ricci::dist::Engine engine({.comm = &comm});
  } catch (const ricci::PlanError& error) {
    return error.what();
  }
  return "it started";
}

bool refused(int threads, const std::string& why) {
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, threads, &level);
  const auto part = part_of_world(2);
  const auto text = refusal(part);
  std::printf("%s\n", text.c_str());
  MPI_Finalize();
  return text.find(why) != std::string::npos;
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  const bool right = what == "alone"     ? alone()
                     : what == "joined"  ? joined()
                     : what == "threads" ? refused(MPI_THREAD_SERIALIZED, "MPI_THREAD_MULTIPLE")
                                         : refused(MPI_THREAD_MULTIPLE, "leaves ranks out");
  return right ? 0 : 1;
}
