// Permutations between tiles of any two tensors against the core's.
#include "dist/ranks.hpp"

namespace ricci::tests::dist_permutations {
namespace {

template <class From, class To>
void check(Random& cases, Random& random, int rank, bool same_tiles, const dist::PermuteOptions& options) {
  std::string in, out;
  std::vector<std::int64_t> extents, tiles;
  for (int axis = 0; axis < rank; ++axis) {
    in += static_cast<char>('a' + axis);
    out.insert(static_cast<std::size_t>(cases.from(0, static_cast<std::int64_t>(out.size()))), 1, in.back());
    extents.push_back(cases.from(2, 9));
    tiles.push_back(cases.from(2, 5));
  }
  std::vector<std::int64_t> to_extents, to_tiles;
  for (const char letter : out) {
    to_extents.push_back(extents[letter - 'a']);
    to_tiles.push_back(same_tiles ? tiles[letter - 'a'] : cases.from(2, 5));
  }
  const auto spec = in + "->" + out;
  INFO(spec << ", " << engine().size() << " ranks");
  auto a = engine().tensor(dtype_of<From>(), extents, tiles, random_distribution(random, rank));
  auto b = engine().tensor(dtype_of<To>(), to_extents, to_tiles, random_distribution(random, rank));
  fill<From>(a, 1);
  fill<To>(b, 2);
  const auto plan = engine().plan_permute(spec, a, b, options);
  run_and_count(plan);
  const auto from = whole<From>(extents, 1);
  auto expected = whole<To>(to_extents, 2);
  Runtime::interpret_permute(spec, Layout::row_major(dtype_of<From>(), extents),
                             Layout::row_major(dtype_of<To>(), to_extents), from.data(), expected.data(), options.alpha,
                             options.beta, options.conjugate);
  CHECK(everywhere<To>(b) == expected);
}

}  // namespace

TEST_CASE("Random permutations between tiles are the core's") {
  Random cases(3), random(4);  // the first ask for the same pieces on any number of ranks
  for (int trial = 0; trial < fuzz::cases(8); ++trial) {
    dist::PermuteOptions options;
    if (trial % 2 == 1) options.alpha = 2;
    if (trial % 3 == 1) options.beta = 3;
    const int rank = static_cast<int>(cases.from(0, 3));
    if (trial % 4 == 3) {
      check<float, double>(cases, random, rank, trial % 8 < 4, options);
    } else {
      check<std::int32_t, std::int32_t>(cases, random, rank, trial % 8 < 4, options);
    }
  }
}

TEST_CASE("A transposition of equal tiles moves each tile that changes its owner once") {
  const int size = engine().size();
  const auto grid = engine().grid({size});
  auto a = engine().tensor(DType::f64, {8, 8}, {2}, grid.cyclic({{0}}));
  auto b = engine().tensor(DType::f64, {8, 8}, {2}, grid.cyclic({{0}}));
  fill<double>(a, 1);
  const auto plan = engine().plan_permute("ij->ji", a, b);
  std::int64_t all = 0;
  for (const auto bytes : plan.info().received) all += bytes;
  CHECK(all == (size == 1 ? 0 : 16 - 16 / size) * 4 * 8);
  CHECK(plan.info().tasks == 16);  // no copy where a tile arrives
  run_and_count(plan);
  CHECK(everywhere<double>(b)[1 * 8 + 6] == element(6 * 8 + 1, 1));
}

}  // namespace ricci::tests::dist_permutations
