// What is refused, on all ranks alike and before anything is submitted.
#include "dist/ranks.hpp"

namespace ricci::tests::dist_errors {
TEST_CASE("Tensors are checked") {
  const auto grid = engine().grid({engine().size()});
  const auto make = [&](std::vector<std::int64_t> extents, std::vector<std::int64_t> tiles,
                        const dist::Distribution& how) {
    return [=] { engine().tensor(DType::f64, extents, tiles, how); };
  };
  check_refused<ShapeError>(make({4, 0}, {2}, grid.cyclic({{0}})), "extents are from 1");
  check_refused<ShapeError>(make({4, 4}, {2, 0}, grid.cyclic({{0}})), "tiles are from 1");
  check_refused<ShapeError>(make({4, 4}, {2, 2, 2}, grid.cyclic({{0}})), "one extent for all axes");
  check_refused<ShapeError>(make({4, 4}, {2}, grid.cyclic({{2}})), "there is no axis 2");
  check_refused<ShapeError>(make({4, 4}, {2}, grid.cyclic({{0, 0}})), "divided twice");
  check_refused<ShapeError>(make({4, 4}, {2}, grid.cyclic({{0}, {1}})), "axes for 2 dimensions of a grid that has 1");
  check_refused<ShapeError>(make({4, 4}, {2}, engine().grid({64, 64}).cyclic({{0}, {1}})), "4096 ranks");
  check_refused<ShapeError>(make({1 << 20, 1 << 20}, {1 << 16}, grid.cyclic({{0}})), "less than 2^31");
  check_refused<ShapeError>([] { engine().grid({0, 0}); }, "at most one of them 0");
  check_refused<PlanError>([] { dist::Engine another; }, "one at a time");
  auto tensor = engine().tensor(DType::f64, {4, 4}, {2}, grid.cyclic({{0}}));
  double one = 0;
  check_refused<ShapeError>([&] { tensor.read({0, 3}, {1, 2}, &one); }, "not inside");
  check_refused<ShapeError>([&] { tensor.read({0, 0}, {1, 1}, &one, engine().size()); }, "there is no rank");
  check_refused<ShapeError>([&] { tensor.read({0, 0}, {1, 1}, nullptr); }, "pointer is null");
}

TEST_CASE("What one rank throws while it fills, all ranks throw") {
  const auto grid = engine().grid({engine().size()});
  auto tensor = engine().tensor(DType::f64, {8}, {1}, grid.cyclic({{0}}));
  check_refused<IoError>(
      [&] {
        tensor.fill([](const dist::Tile& tile, void*) {
          if (tile.first[0] == 0) throw IoError("the integrals are lost");
        });
      },
      "the integrals are lost");
  fill<double>(tensor, 1);  // and goes on
  CHECK(everywhere<double>(tensor) == whole<double>({8}, 1));
}

TEST_CASE("Contractions are checked") {
  const auto grid = engine().grid({engine().size()});
  const auto make = [&](DType type, std::vector<std::int64_t> extents, std::vector<std::int64_t> tiles) {
    return engine().tensor(type, extents, tiles, grid.cyclic({{0}}));
  };
  auto a = make(DType::f64, {4, 6}, {2, 3}), b = make(DType::f64, {6, 8}, {3, 4}), c = make(DType::f64, {4, 8}, {2, 4});
  const auto plan = [&](std::string spec, std::vector<dist::Tensor> inputs, dist::Tensor output,
                        const dist::EinsumOptions& options = {}) {
    return [=] { engine().plan_einsum(spec, inputs, output, options); };
  };
  check_refused<SpecError>(plan("ik,kj->iz", {a, b}, c), "z");
  check_refused<ShapeError>(plan("ik,jk->ij", {a, b}, c), "k");
  check_refused<ShapeError>(plan("ik,kj->ji", {a, b}, c), "gives extents [8, 4], and the result has [4, 8]");
  check_refused<ShapeError>(plan("ik,kj->ij", {a, make(DType::f64, {6, 8}, {2, 4})}, c), "plan_permute() copies");
  check_refused<ShapeError>(plan("ik,kj->ij", {a, b}, make(DType::f64, {4, 8}, {2, 3})), "index j is 8 in tiles of 3");
  check_refused<PlanError>(plan("ik,kj,jl->il", {a, b, c}, c), "needs two");
  check_refused<ShapeError>(plan("ij,j->ij", {c, make(DType::f64, {8}, {4})}, c), "the result is an operand");
  check_refused<ShapeError>(plan("ik,kj->ij", {a, make(DType::c128, {6, 8}, {3, 4})}, c), "no conversion from c128");
  dist::EinsumOptions imaginary;
  imaginary.alpha = Scalar(0, 1);
  check_refused<ShapeError>(plan("ik,kj->ij", {a, b}, c, imaginary), "alpha");
}

TEST_CASE("Permutations are checked") {
  const auto grid = engine().grid({engine().size()});
  auto a = engine().tensor(DType::f64, {4, 6}, {2}, grid.cyclic({{0}}));
  auto b = engine().tensor(DType::f64, {4, 6}, {2}, grid.cyclic({{0}}));
  auto row = engine().tensor(DType::f64, {4}, {2}, grid.cyclic({{0}}));
  check_refused<ShapeError>([&] { engine().plan_permute("ij->ji", a, b); }, "gives extents [6, 4]");
  check_refused<SpecError>([&] { engine().plan_permute("ij->i", a, row); }, "no permutation");
  check_refused<SpecError>([&] { engine().plan_permute("ij,j->i", a, row); }, "permutes one tensor");
  check_refused<ShapeError>([&] { engine().plan_permute("ij->ij", a, a); }, "the result is the operand");
}

}  // namespace ricci::tests::dist_errors
