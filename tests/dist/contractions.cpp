// Contractions in tiles against the core's of the whole tensors, and the bytes that they said they would move.
#include "dist/ranks.hpp"

namespace ricci::tests::dist_contractions {
namespace {

struct Case {
  std::string spec;
  std::vector<std::int64_t> extents[3], tiles[3];  ///< of C, A, B
};

/// Letters by role, up to two each: of both operands and the result, of one operand and the result, of the sum.
Case random_case(Random& random) {
  std::string letters[3];  // of C, A, B
  std::map<char, std::pair<std::int64_t, std::int64_t>> axis;
  char next = 'a';
  const int members[4][3] = {{1, 1, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
  for (int role = 0; role < 4; ++role) {
    for (auto count = random.from(role == 3 ? 1 : 0, role == 0 ? 1 : 2); count > 0; --count, ++next) {
      const auto tile = random.from(2, 4);
      axis[next] = {random.from(0, 2) == 0 ? random.from(1, 3 * tile) : tile * random.from(1, 3),
                    tile};  // few are ragged
      for (int tensor = 0; tensor < 3; ++tensor) {
        auto& word = letters[tensor];
        if (members[role][tensor] != 0) word.insert(static_cast<std::size_t>(random.from(0, word.size())), 1, next);
      }
    }
  }
  Case one{letters[1] + "," + letters[2] + "->" + letters[0], {}, {}};
  for (int tensor = 0; tensor < 3; ++tensor) {
    for (const char letter : letters[tensor]) {
      one.extents[tensor].push_back(axis[letter].first);
      one.tiles[tensor].push_back(axis[letter].second);
    }
  }
  return one;
}

/// C of the core, from whole tensors.
template <class T>
std::vector<T> expected(const std::string& spec, const std::vector<std::int64_t> (&extents)[3],
                        const EinsumOptions& options) {
  const auto type = dtype_of<T>();
  auto c = whole<T>(extents[0], 0);
  const auto a = whole<T>(extents[1], 1), b = whole<T>(extents[2], 2);
  const Layout layouts[] = {Layout::row_major(type, extents[1]), Layout::row_major(type, extents[2])};
  const void* const from[] = {a.data(), b.data()};
  Runtime::interpret_einsum(spec, layouts, Layout::row_major(type, extents[0]), from, c.data(), options);
  return c;
}

template <class T>
void check(Random& random, const Case& one, dist::Stationary stationary, double alpha, double beta) {
  const auto type = dtype_of<T>();
  INFO(one.spec << ", " << engine().size() << " ranks, stationary " << static_cast<int>(stationary));
  std::vector<dist::Tensor> tensors;
  for (int tensor = 0; tensor < 3; ++tensor) {
    tensors.push_back(engine().tensor(type, one.extents[tensor], one.tiles[tensor],
                                      random_distribution(random, static_cast<int>(one.extents[tensor].size()))));
    fill<T>(tensors.back(), tensor);
  }
  dist::EinsumOptions options;
  options.alpha = alpha;
  options.beta = beta;
  options.stationary = stationary;
  const auto plan = engine().plan_einsum(one.spec, {tensors[1], tensors[2]}, tensors[0], options);
  CHECK(plan.info().tasks <= 400);
  run_and_count(plan);
  EinsumOptions plain;
  plain.alpha = alpha;
  plain.beta = beta;
  CHECK(everywhere<T>(tensors[0]) == expected<T>(one.spec, one.extents, plain));
}

}  // namespace

TEST_CASE("Random contractions in tiles are the core's") {
  Random cases(7), random(8);  // the first ask for the same kernels on any number of ranks
  using enum dist::Stationary;
  const dist::Stationary all[] = {fewest_bytes, output, first, second};
  for (int trial = 0; trial < fuzz::cases(8); ++trial) {
    auto one = random_case(cases);
    while (Layout::row_major(DType::u8, one.extents[0]).elements() > 2000) one = random_case(cases);
    const double beta = trial % 3;
    if (trial % 4 == 3) {
      check<std::complex<double>>(random, one, all[trial % 4], 2, beta);
    } else {
      check<double>(random, one, all[trial % 4], 2, beta);
    }
  }
}

TEST_CASE("Sums over one operand, scalars and diagonals are contracted, too") {
  Random random(8);
  check<double>(random, {"ab,ab->", {{}, {5, 7}, {5, 7}}, {{}, {2, 3}, {2, 3}}}, dist::Stationary::first, 1, 3);
  check<double>(random, {"abx,b->a", {{5}, {5, 7, 4}, {7}}, {{2}, {2, 3, 3}, {3}}}, dist::Stationary::fewest_bytes, 1,
                0);
  check<std::int64_t>(random, {"iij,jk->ki", {{4, 6}, {6, 6, 5}, {5, 4}}, {{2, 4}, {4, 4, 2}, {2, 2}}},
                      dist::Stationary::second, 3, 1);
  check<float>(random, {"...k,kj->...j", {{3, 2, 4}, {3, 2, 5}, {5, 4}}, {{2}, {2}, {2}}}, dist::Stationary::output, 1,
               1);
}

TEST_CASE("The tensor stays whose stay moves the fewest bytes") {
  const int size = engine().size();
  if (size == 1) return;
  const auto grid = engine().grid({size});
  // As in a ladder: V is large, amplitudes and residual are small.
  auto large = engine().tensor(DType::f64, {16, 16, 16}, {4}, grid.cyclic({{1, 2}}));
  auto small = engine().tensor(DType::f64, {16, 16, 2}, {4, 4, 2}, grid.cyclic({{0}}));
  auto result = engine().tensor(DType::f64, {16, 2}, {4, 2}, grid.cyclic({{0}}));
  CHECK(engine().plan_einsum("aef,efi->ai", {large, small}, result).info().stationary == "A");
  CHECK(engine().plan_einsum("efi,aef->ai", {small, large}, result).info().stationary == "B");
  // A square product of equal tensors: the result stays, as nothing of it moves then.
  const auto square = engine().grid({0, size == 4 ? 2 : 1});
  std::vector<dist::Tensor> equal;
  for (int k = 0; k < 3; ++k) equal.push_back(engine().tensor(DType::f64, {16, 16}, {4}, square.cyclic({{0}, {1}})));
  const auto product = engine().plan_einsum("ik,kj->ij", {equal[0], equal[1]}, equal[2]);
  CHECK(product.info().tasks == 64);
  CHECK(product.info().flops == 2 * 16 * 16 * 16);
  if (size == 4) {
    CHECK(product.info().stationary == "C");
    // Each rank has a quarter of A and B, and needs half of A and half of B.
    CHECK(product.info().received == std::vector<std::int64_t>(4, 2 * 16 * 16 * 8 / 4));
  }
  CHECK_THAT(product.explain(), Catch::Matchers::ContainsSubstring("considered   A stays"));
}

TEST_CASE("A tensor times itself travels once") {
  const int size = engine().size();
  const auto grid = engine().grid({size});
  auto a = engine().tensor(DType::f64, {8, 8}, {2}, grid.cyclic({{0, 1}}));
  auto c = engine().tensor(DType::f64, {8, 8}, {2}, grid.cyclic({{1}}));
  fill<double>(a, 1);
  dist::EinsumOptions options;
  options.stationary = dist::Stationary::output;
  const auto plan = engine().plan_einsum("ki,kj->ij", {a, a}, c, options);
  for (const auto bytes : plan.info().received) CHECK(bytes <= 8 * 8 * 8);
  run_and_count(plan);
  const auto values = whole<double>({8, 8}, 1), got = everywhere<double>(c);
  double sum = 0;
  for (int k = 0; k < 8; ++k) sum += values[k * 8 + 3] * values[k * 8 + 6];
  CHECK(got[3 * 8 + 6] == sum);
}

TEST_CASE("Replicas divide the sum and receive less") {
  if (engine().size() < 4) return;
  // Four ranks as two replicas of a column: with one, each needs all of B, with two the half of it.
  const auto grid = engine().grid({2}, {.replicas = 2});
  std::vector<dist::Tensor> tensors;
  tensors.push_back(engine().tensor(DType::f64, {8, 16}, {2, 16}, grid.cyclic({{0}})));
  tensors.push_back(engine().tensor(DType::f64, {8, 32}, {2, 2}, grid.cyclic({{0}})));
  tensors.push_back(engine().tensor(DType::f64, {32, 16}, {2, 16}, grid.cyclic({{0}})));
  dist::EinsumOptions options;
  options.stationary = dist::Stationary::output;
  for (int k = 1; k < 3; ++k) fill<double>(tensors[k], k);
  const auto plan = engine().plan_einsum("ik,kj->ij", {tensors[1], tensors[2]}, tensors[0], options);
  CHECK(plan.info().stationary == "C, 2 replicas");
  run_and_count(plan);
  CHECK(everywhere<double>(tensors[0]) == expected<double>("ik,kj->ij", {{8, 16}, {8, 32}, {32, 16}}, {}));
}

TEST_CASE("Calls follow each other in order, and give the same bits each time") {
  Random random(9);
  const auto grid = engine().grid({engine().size()});
  std::vector<dist::Tensor> t;
  for (int k = 0; k < 3; ++k) t.push_back(engine().tensor(DType::f32, {12, 12}, {4}, grid.cyclic({{0, 1}})));
  const auto inexact = [&](const dist::Tile& tile, void* to) {
    std::mt19937 bits(static_cast<unsigned>(tile.first[0] * 100 + tile.first[1]));
    std::generate_n(static_cast<float*>(to), 16, [&] { return static_cast<float>(bits()) * 1e-9F; });
  };
  for (auto& tensor : t) tensor.fill(inexact);
  dist::EinsumOptions options;
  options.alpha = 0.01;
  options.stationary = dist::Stationary::first;
  const auto there = engine().plan_einsum("ik,kj->ij", {t[0], t[1]}, t[2], options);
  const auto back = engine().plan_einsum("ik,kj->ij", {t[0], t[2]}, t[1], options);
  std::vector<float> first;
  for (int trial = 0; trial < 3; ++trial) {
    t[1].fill(inexact);
    for (int k = 0; k < 3; ++k) {  // nothing waits between them
      there();
      back();
    }
    const auto now = everywhere<float>(t[1]);
    if (trial == 0) first = now;
    CHECK(now == first);
  }
  // The same by hand: the order of the sums may be another.
  const auto a = everywhere<float>(t[0]);
  t[1].fill(inexact);
  auto b = everywhere<float>(t[1]), c = b;
  EinsumOptions plain;
  plain.alpha = 0.01;
  const auto layout = Layout::row_major(DType::f32, {12, 12});
  for (int k = 0; k < 3; ++k) {
    contract("ik,kj->ij", layout, a.data(), layout, b.data(), layout, c.data(), plain);
    contract("ik,kj->ij", layout, a.data(), layout, c.data(), layout, b.data(), plain);
  }
  for (std::size_t k = 0; k < b.size(); ++k) CHECK(first[k] == Approx(b[k]).epsilon(1e-4));
}

}  // namespace ricci::tests::dist_contractions
