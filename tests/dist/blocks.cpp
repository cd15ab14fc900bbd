// Programs over tuples of blocks against the same program on whole tensors.
#include <fmt/format.h>

#include "dist/ranks.hpp"

namespace ricci::tests::dist_blocks {
namespace {

/// What the core gives for the whole: the program's one output.
double whole_sum(const std::string& text, const std::map<std::string, std::vector<std::int64_t>>& shapes,
                 const std::vector<const void*>& inputs) {
  auto program = Program::parse(text);
  program.bind(shapes);
  double sum = 0;
  void* const outputs[] = {&sum};
  Runtime::interpret_program(program, outputs, inputs);
  return sum;
}

}  // namespace

TEST_CASE("Pairs of blocks in either order count twice") {
  // As MP2's energy: the exchanged integral is another tile of the same tensor.
  const auto grid = engine().grid({engine().size()});
  auto v = engine().tensor(DType::f64, {3, 7, 3, 7}, {3, 2, 3, 2}, grid.cyclic({{1, 3}}));
  auto e = engine().tensor(DType::f64, {7}, {2}, grid.cyclic({{0}}));
  fill<double>(v, 1);
  e.fill([](const dist::Tile& tile, void* to) {
    for (std::int64_t k = 0; k < tile.extents[0]; ++k) static_cast<double*>(to)[k] = 1 << (tile.first[0] + k);
  });
  const std::string blocks =
      "program pairs\nindex i j a b\n"
      "input vab(i, a, j, b) : f64\ninput vba(j, b, i, a) : f64\ninput wab(i, b, j, a) : f64\ninput wba(j, a, i, b) : "
      "f64\n"
      "input ea(a) : f64\ninput eb(b) : f64\noutput E() : f64\noutput N() : f64\n"
      "E() = sum(i a j b, (vab(i,a,j,b) + vba(j,b,i,a)) * (vab(i,a,j,b) + vba(j,b,i,a) - wab(i,b,j,a) - wba(j,a,i,b)) "
      "/ (ea(a) * "
      "eb(b)))\n"
      "N() = sum(a b, ea(a) * eb(b))\n";
  const auto plan = engine().plan_blocks(Program::parse(blocks), "a >= b",
                                         {{"vab", v, "i a j b"},
                                          {"vba", v, "j b i a"},
                                          {"wab", v, "i b j a"},
                                          {"wba", v, "j a i b"},
                                          {"ea", e, "a"},
                                          {"eb", e, "b"}});
  CHECK(plan.info().tasks == 10);
  engine().wait();
  const auto before = sent_to();
  const auto sums = plan.reduce();
  auto received = sent_to();
  for (std::size_t rank = 0; rank < received.size(); ++rank) received[rank] -= before[rank];
  CHECK(received == plan.info().received);
  // The sum of both orders of a pair, so that either order gives the same.
  const std::string all =
      "index i j a b\ninput v(i, a, j, b) : f64\ninput e(a) : f64\noutput E() : f64\n"
      "E() = sum(i a j b, (v(i,a,j,b) + v(j,b,i,a)) * (v(i,a,j,b) + v(j,b,i,a) - v(i,b,j,a) - v(j,a,i,b)) / (e(a) * "
      "e(b)))\n";
  auto values = whole<double>({3, 7, 3, 7}, 1);
  std::vector<double> energies;
  for (int k = 0; k < 7; ++k) energies.push_back(1 << k);
  REQUIRE(sums.size() == 2);
  CHECK(sums[1] == 127. * 127.);
  CHECK(sums[0] == whole_sum(all, {{"v", {3, 7, 3, 7}}, {"e", {7}}}, {values.data(), energies.data()}));
  CHECK(plan.reduce() == sums);
}

TEST_CASE("Triples of blocks count by their different orders, more arrays than a task has places") {
  const auto grid = engine().grid({engine().size()});
  auto x = engine().tensor(DType::f64, {8, 8}, {3}, grid.cyclic({{0, 1}}));
  const auto element = [](std::int64_t p, std::int64_t q) { return static_cast<double>((p + q) % 5 - p * q % 3); };
  x.fill([&](const dist::Tile& tile, void* to) {
    auto* next = static_cast<double*>(to);
    for (std::int64_t p = 0; p < tile.extents[0]; ++p) {
      for (std::int64_t q = 0; q < tile.extents[1]; ++q) *next++ = element(tile.first[0] + p, tile.first[1] + q);
    }
  });
  std::string text = "index a b c\noutput E() : f64\n";
  std::vector<dist::BlockInput> inputs;
  const std::string names = "abc";
  std::string product = "1.0";
  for (const char p : names) {
    for (const char q : names) {
      const auto name = std::string("x") + p + q;
      if (p != q) {
        text += fmt::format("input {}({}, {}) : f64\n", name, p, q);
        inputs.push_back({name, x, std::string{p, ' ', q}});
        product += fmt::format(" * {}({}, {})", name, p, q);
      }
    }
  }
  for (const char p : names) {
    const auto name = std::string("d") + p;
    text += fmt::format("index z{0}\ninput {1}({0}, z{0}) : f64\n", p, name);
    inputs.push_back({name, x, std::string{p, ' ', p}});
    product += fmt::format(" * {}({}, 0)", name, p);
  }
  text += "E() = sum(a b c, " + product + ")\n";
  const auto plan = engine().plan_blocks(Program::parse(text), "a >= b >= c", inputs);
  CHECK(plan.info().tasks == 10);
  double expected = 0;
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) {
      for (int c = 0; c < 8; ++c) {
        double term = 1;
        for (const auto& [p, q] : {std::pair{a, b}, {a, c}, {b, a}, {b, c}, {c, a}, {c, b}}) term *= element(p, q);
        for (const int p : {a, b, c}) term *= element(p, p / 3 * 3);
        expected += term;
      }
    }
  }
  CHECK(plan.reduce() == std::vector<double>{expected});
  if (engine().size() > 1)
    CHECK_THAT(plan.explain(), Catch::Matchers::ContainsSubstring("shares       the largest is 1."));
  // Without equal blocks, and all orders apart: the tuples' own numbers, of which a program may ask for any part.
  CHECK(engine().plan_blocks(Program::parse(text), "a > b > c", inputs).info().tasks == 1);
  const auto apart = engine().plan_blocks(Program::parse(text), "a, b, c", inputs);
  CHECK(apart.info().tasks == 27);
  CHECK(apart.reduce() == std::vector<double>{expected});
}

TEST_CASE("Programs over blocks are checked") {
  const auto grid = engine().grid({engine().size()});
  auto x = engine().tensor(DType::f64, {8, 6}, {2, 3}, grid.cyclic({{0}}));
  const std::string head = "index a b\ninput x(a, b) : f64\n", sum = "output E() : f64\nE() = sum(a b, x(a, b))\n";
  const auto plan = [&](const std::string& text, const std::string& tuples, const std::string& indices) {
    return [=] { engine().plan_blocks(Program::parse(text), tuples, {{"x", x, indices}}); };
  };
  check_refused<SpecError>(plan(head + sum, "a >= ", "a b"), "a name is missing");
  check_refused<SpecError>(plan(head + sum, "a b", "a b"), "'>=', '>' or ',' is missing");
  check_refused<SpecError>(plan(head + sum, "a, a", "a b"), "a is there twice");
  check_refused<SpecError>(plan(head + sum, "a, b, c", "a b"), "no input has an axis c");
  check_refused<ShapeError>(plan(head + sum, "a >= b", "a b"), "different tiles");
  check_refused<ShapeError>(plan(head + sum, "a", "a b"), "axis 1 has 2 tiles");
  check_refused<ShapeError>(plan(head + sum, "a, b", "a b c"), "3 names");
  check_refused<ShapeError>(
      plan("index a b\ninput y(a, b) : f64\noutput E() : f64\nE() = sum(a b, y(a, b))\n", "a, b", "a b"),
      "input y has no tensor");
  check_refused<ShapeError>(plan("index a b\ninput x(a, b) : f32\n" + sum, "a, b", "a b"), "f32 in the program");
  check_refused<ShapeError>(plan(head + "output E(a) : f64\nE(a) = sum(b, x(a, b))\n", "a, b", "a b"),
                            "one number in f64");
  check_refused<PlanError>(plan(head + "param s : f64\noutput E() : f64\nE() = sum(a b, s * x(a, b))\n", "a, b", "a b"),
                           "no parameters");
  check_refused<PlanError>(plan(head + "inout E() : f64\nE() += sum(a b, x(a, b))\n", "a, b", "a b"), "keeps nothing");
}

}  // namespace ricci::tests::dist_blocks
