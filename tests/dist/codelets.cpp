// Plans as codelets of a StarPU program's own tasks, on a tensor's tiles and on other handles.
#include "dist/ranks.hpp"

namespace ricci::tests::dist_codelets {

TEST_CASE("A plan is a codelet") {
  engine();
  PermuteOptions options;
  options.threads = 1;
  const auto layout = Layout::row_major(DType::f64, {5, 3});
  const dist::Codelet codelet(Runtime::global().plan_permute("ab->ba", layout, options), true);
  auto a = whole<double>({5, 3}, 1);
  starpu_data_handle_t from = nullptr, to = nullptr;
  starpu_vector_data_register(&from, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(a.data()), 15, sizeof(double));
  starpu_matrix_data_register(&to, -1, 0, 5, 5, 3, sizeof(double));
  REQUIRE(starpu_task_insert(static_cast<starpu_codelet*>(codelet.get()), STARPU_W, to, STARPU_R, from, 0) == 0);
  starpu_data_acquire(to, STARPU_R);
  const auto* b = static_cast<const double*>(starpu_data_get_local_ptr(to));
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 3; ++j) CHECK(b[j * 5 + i] == a[i * 3 + j]);
  }
  starpu_data_release(to);
  starpu_data_unregister(from);
  starpu_data_unregister_no_coherency(to);
}

TEST_CASE("Tiles are data of StarPU-MPI, for tasks of a program's own") {
  const int size = engine().size();
  auto a = engine().tensor(DType::f64, {4 * size}, {4}, engine().grid({size}).cyclic({{0}}));
  auto b = engine().tensor_like(a);
  fill<double>(a, 1);
  PermuteOptions options;
  options.threads = 1;
  options.alpha = 3;
  const auto layout = Layout::row_major(DType::f64, {4});
  const dist::Codelet triple(Runtime::global().plan_permute("a->a", layout, options), true);
  for (int tile = 0; tile < size; ++tile) {  // each from its neighbour
    starpu_mpi_task_insert(MPI_COMM_WORLD, static_cast<starpu_codelet*>(triple.get()), STARPU_W,
                           static_cast<starpu_data_handle_t>(b.handle(tile)), STARPU_R,
                           static_cast<starpu_data_handle_t>(a.handle((tile + 1) % size)), 0);
  }
  engine().wait();
  const auto got = everywhere<double>(b);
  for (int k = 0; k < 4 * size; ++k) CHECK(got[k] == 3 * element((k + 4) % (4 * size), 1));
}

}  // namespace ricci::tests::dist_codelets
