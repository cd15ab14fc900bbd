// Tensors in tiles: who has them, filling, boxes read and written.
#include "dist/ranks.hpp"

namespace ricci::tests::dist_tensors {

TEST_CASE("Tiles are dealt to the ranks of a grid in turns") {
  const int size = engine().size();
  const auto grid = engine().grid({size});
  const auto tensor = engine().tensor(DType::f64, {10, 6}, {4, 3}, grid.cyclic({{0, 1}}));
  CHECK(tensor.tile_count() == 6);
  for (int number = 0; number < 6; ++number) CHECK(tensor.owner(number) == number % size);
  const auto last = tensor.tile(5);
  CHECK(last.index == std::vector<std::int64_t>{2, 1});
  CHECK(last.first == std::vector<std::int64_t>{8, 3});
  CHECK(last.extents == std::vector<std::int64_t>{2, 3});
  auto bytes = tensor.local_bytes();
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(bytes == 10 * 6 * 8);
  CHECK(engine().grid({0}).extents == std::vector<int>{size});
}

TEST_CASE("Tiles of a grid with replicas are dealt over all of them") {
  const int size = engine().size();
  if (size < 4) return;
  const auto grid = engine().grid({2}, {.replicas = 2});
  const auto tensor = engine().tensor(DType::f32, {8, 5}, {1, 5}, grid.cyclic({{0}}));
  // Two to the first replica, two to the second, and again.
  for (int number = 0; number < 8; ++number) CHECK(tensor.owner(number) == number % 4);
}

TEST_CASE("Tensors hold what they are filled with") {
  Random random(1);
  for (int trial = 0; trial < 6; ++trial) {
    std::vector<std::int64_t> extents, tiles;
    for (int axis = 0; axis < trial % 4; ++axis) {
      extents.push_back(random.from(1, 9));
      tiles.push_back(random.from(1, 5));
    }
    auto tensor = engine().tensor(DType::i32, extents, tiles, random_distribution(random, trial % 4));
    fill<int>(tensor, trial);
    CHECK(everywhere<int>(tensor) == whole<int>(extents, trial));
  }
}

TEST_CASE("Boxes of elements are read and written on any rank") {
  Random random(2);
  const std::vector<std::int64_t> extents = {9, 7, 5};
  for (int trial = 0; trial < 5; ++trial) {
    auto tensor = engine().tensor(DType::i32, extents, {4, 2, 3}, random_distribution(random, 3));
    fill<int>(tensor, trial);
    auto expected = whole<int>(extents, trial);
    std::vector<std::int64_t> first, box;
    for (const auto extent : extents) {
      first.push_back(random.from(0, extent - 1));
      box.push_back(random.from(1, extent - first.back()));
    }
    const int root = static_cast<int>(random.from(0, engine().size() - 1));
    auto part = whole<int>(box, trial + 1);
    tensor.write(first, box, part.data(), root);
    std::size_t next = 0;
    for (auto i = first[0]; i < first[0] + box[0]; ++i) {
      for (auto j = first[1]; j < first[1] + box[1]; ++j) {
        for (auto k = first[2]; k < first[2] + box[2]; ++k) expected[(i * 7 + j) * 5 + k] = part[next++];
      }
    }
    CHECK(everywhere<int>(tensor) == expected);
    std::vector<int> back(part.size());
    tensor.read(first, box, back.data(), root);
    if (engine().rank() == root) CHECK(back == part);
  }
}

}  // namespace ricci::tests::dist_tensors
