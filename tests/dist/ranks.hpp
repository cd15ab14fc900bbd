// What the tests over ranks share: one engine, random tensors whose elements every rank knows, and counted bytes.
#pragma once

#include <starpu_mpi.h>

#include <cstdlib>
#include <functional>
#include <random>

#include "catch.hpp"
#include "fuzz/seeds.hpp"
#include "ricci/dist.hpp"
#include "ricci/ricci.hpp"

namespace ricci::tests {

inline dist::Engine& engine() {
  static dist::Engine one([] {
    const char* window = std::getenv("RICCI_TEST_WINDOW");
    return dist::EngineOptions{.window = window != nullptr ? std::atoi(window) : 0};
  }());
  return one;
}

/// The same on all ranks. RICCI_FUZZ_SEED gives other numbers.
class Random {
 public:
  explicit Random(unsigned salt) : generator_(salt + 1000 * static_cast<unsigned>(fuzz::first_seed(0))) {}
  std::int64_t from(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(generator_() % static_cast<unsigned>(most - least + 1));
  }
  bool coin() { return from(0, 1) == 1; }

 private:
  std::mt19937 generator_;
};

/// A small whole number for each element of a tensor, so that sums are exact in every type and order.
inline int element(std::int64_t number, int salt) {
  return static_cast<int>((number * 7 + salt * 5 + number / 11) % 9) - 4;
}

template <class T>
std::vector<T> whole(const std::vector<std::int64_t>& extents, int salt) {
  std::vector<T> all(static_cast<std::size_t>(Layout::row_major(DType::u8, extents).elements()));
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<T>(element(static_cast<std::int64_t>(k), salt));
  return all;
}

/// fill() with the elements of whole().
template <class T>
void fill(dist::Tensor tensor, int salt) {
  const auto extents = tensor.extents();
  tensor.fill([extents, salt](const dist::Tile& tile, void* to) {
    auto* next = static_cast<T*>(to);
    std::vector<std::int64_t> at(extents.size(), 0);
    const auto count = Layout::row_major(DType::u8, tile.extents).elements();
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t number = 0, rest = k;
      for (std::size_t axis = extents.size(); axis-- > 0; rest /= tile.extents[axis])
        at[axis] = rest % tile.extents[axis];
      for (std::size_t axis = 0; axis < extents.size(); ++axis)
        number = number * extents[axis] + tile.first[axis] + at[axis];
      *next++ = static_cast<T>(element(number, salt));
    }
  });
}

/// The elements of a tensor, on every rank.
template <class T>
std::vector<T> everywhere(dist::Tensor tensor) {
  auto all = std::vector<T>(static_cast<std::size_t>(Layout::row_major(DType::u8, tensor.extents()).elements()));
  tensor.gather(all.data());
  MPI_Bcast(all.data(), static_cast<int>(all.size() * sizeof(T)), MPI_BYTE, 0, MPI_COMM_WORLD);
  return all;
}

/// Bytes that StarPU-MPI has sent to each rank, from all of them (STARPU_COMM_STATS).
inline std::vector<std::int64_t> sent_to() {
  std::vector<std::size_t> mine(static_cast<std::size_t>(engine().size()), 0);
  starpu_mpi_comm_amounts_retrieve(mine.data());
  std::vector<std::int64_t> all(mine.begin(), mine.end());
  MPI_Allreduce(MPI_IN_PLACE, all.data(), engine().size(), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// Calls a plan and compares what ranks received with what the plan says.
inline void run_and_count(const dist::Plan& plan) {
  engine().wait();
  const auto before = sent_to();
  plan();
  engine().wait();
  auto received = sent_to();
  for (std::size_t rank = 0; rank < received.size(); ++rank) received[rank] -= before[rank];
  CHECK(received == plan.info().received);
}

/// Throws an E on every rank, whose text has `part`.
template <class E>
void check_refused(const std::function<void()>& call, const std::string& part) {
  int refused = 0;
  std::string text;
  try {
    call();
  } catch (const E& error) {
    refused = 1;
    text = error.what();
  } catch (const std::exception& error) {
    text = error.what();
  }
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring(part));
  MPI_Allreduce(MPI_IN_PLACE, &refused, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  CHECK(refused == 1);
}

/// A random grid of at most all ranks, and a random way to divide a tensor by it.
inline dist::Distribution random_distribution(Random& random, int rank) {
  const int size = engine().size();
  const int replicas = size % 2 == 0 && random.coin() ? 2 : 1;
  const int left = size / replicas;
  auto grid = left == 4       ? engine().grid(random.coin() ? std::vector<int>{2, 2} : std::vector<int>{4}, {replicas})
              : random.coin() ? engine().grid({left, 1}, {replicas})
                              : engine().grid({left}, {replicas});
  std::vector<std::vector<int>> axes(grid.extents.size());
  for (int axis = 0; axis < rank; ++axis) {
    if (const auto d = static_cast<std::size_t>(random.from(0, static_cast<int>(axes.size()))); d < axes.size()) {
      axes[d].push_back(axis);
    }
  }
  return grid.cyclic(axes);
}

}  // namespace ricci::tests
