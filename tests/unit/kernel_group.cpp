// Groups of products with splits of their own: what is one, and kernels of them beside the interpreter.
#include <vector>

#include "catch.hpp"
#include "kernel/build.hpp"
#include "kernel/expand.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel_places.hpp"
#include "lower/lower_program.hpp"
#include "ricci/error.hpp"

namespace kernel_group_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

ir::Program lowered(const std::string& statement) {
  return ir::lower(Program::parse("index a = 7\nindex b = 6\nindex c = 19\nindex k = 5\nindex l = 3\n"
                                  "input A(a, b, k) : f64\ninput B(k, c) : f64\ninput E(l, a) : f64\n"
                                  "input F(c, b, l) : f64\ninput G(b, a, l) : f64\ninput H(l, c) : f64\n"
                                  "input z(a, b) : f64\ninout y(a, b, c) : f64\n" +
                                  statement))
      .steps.front()
      .program;
}

/// a and b beside c, a beside b and c, and the first split again.
const char* const kThree =
    "y(a, b, c) += sum(k, A(a, b, k) * B(k, c)) - sum(l, E(l, a) * F(c, b, l)) - z(a, b) + sum(l, G(b, a, l) * H(l, "
    "c))";

/// Ragged in a and c; E and F are packed, B and H read in place.
const std::string kFirst =
    "tile a:4:2; order task a0 serial a1; stage A at a1 scratch k b a; atom fma rows b a columns c depth k lanes 8;"
    "stage G at a1 scratch l b a; atom fma rows b a columns c depth l lanes 8;";
const std::string kSecond =
    "tile a:4; tile c:8; order task a0 serial c0; stage E at a0 scratch l a; stage F at c0 scratch l b c;"
    "atom fma rows a columns b c depth l lanes 4;";
const std::string kWhole = "products 1 3;" + kFirst + "products 2;" + kSecond;

/// Small whole numbers: every order of every sum gives the same bits.
std::vector<std::vector<double>> tensors(const ir::Program& program) {
  std::vector<std::vector<double>> list;
  for (const auto& buffer : program.buffers) {
    auto& values = list.emplace_back(static_cast<std::size_t>(buffer.last + 1));
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>((7 * k + 3 * list.size()) % 11) - 5;
  }
  return list;
}

std::vector<void*> pointers(std::vector<std::vector<double>>& list) {
  std::vector<void*> all;
  for (auto& values : list) all.push_back(values.data());
  return all;
}

Kernel built(const ir::Program& program, const std::string& directives) {
  return build(program, *group_of(program), parse_directives(directives), Target::cpu);
}

/// The rule that a schedule breaks; empty: none.
template <class Made>
std::string refused(const Made& made) {
  try {
    made();
  } catch (const PlanError& error) {
    return error.what();
  }
  return {};
}

/// One register tile a task: columns c, then b, then c again, with rows in another order.
const std::string kPassed =
    "products 1; tile a:2; order task a0; stage A at a0 scratch k b a; atom fma rows a b columns c depth k lanes 8;"
    "products 2; tile a:2; order task a0; stage E at a0 scratch l a; stage F at a0 scratch l c b;"
    "atom fma rows a columns c b depth l lanes 8; exchange; products 3; tile a:2; order task a0;"
    "stage G at a0 scratch l b a; atom fma rows b a columns c depth l lanes 8;";

Kernel passed_tiles() { return built(lowered(kThree), kPassed + "exchange"); }
Kernel passed() { return expand(passed_tiles()); }

const Fault kFaults[] = {
    {"tiles of different digits", passed_tiles,
     [](Kernel& k) { get<TileExchange>(k).from.rows.front() = {k.add_var("x", 2), 2}; }, "hold different elements"},
    {"registers that a tile does not have", passed_tiles, [](Kernel& k) { get<TileExchange>(k).to.columns.pop_back(); },
     "has not the"},
    {"a tile that becomes itself", passed_tiles,
     [](Kernel& k) {
       auto& exchange = get<TileExchange>(k);
       exchange.to = exchange.from;
     },
     "of a tile with itself"},
    {"registers of other lanes", passed_tiles,
     [](Kernel& k) { k.arrays[static_cast<std::size_t>(get<TileExchange>(k).to.array)].lanes = 4; }, "has not the"},
    {"sums that pass into registers that are not there", passed,
     [](Kernel& k) {
       const auto [body, place] = find<Declare>(
           k.body, [&](const Statement& s) { return k.array(std::get<Declare>(s.node).array).name == "sum_2"; });
       body->erase(body->begin() + static_cast<std::ptrdiff_t>(place));
     },
     "is written where it is not declared"},
};

}  // namespace

TEST_CASE("products are described by roles, and by what is contiguous") {
  const auto program = lowered(kThree);
  const auto group = group_of(program);
  REQUIRE(group);
  std::vector<std::string> said;
  for (const auto& product : group->products) said.push_back(describe(product, program));
  CHECK(said == std::vector<std::string>{
                    "rows a:7 b:6, columns c:19, depth k:5; neighbours in A along k, in B along c, in y along c",
                    "rows a:7, columns b:6 c:19, depth l:3; neighbours in E along a, in F along l, in y along c",
                    "rows a:7 b:6, columns c:19, depth l:3; neighbours in G along l, in H along c, in y along c"});
}

TEST_CASE("faults planted into exchanges are found by name") {
  check_sound({passed_tiles, passed});
  check_faults(kFaults);
}

TEST_CASE("sums pass from section to section in registers") {
  const auto program = lowered(kThree);
  auto want = tensors(program);
  ir::interpret(program, pointers(want), {});
  // All of them, the last two, the first two.
  auto last = kPassed, first = kPassed;
  last.erase(last.find("exchange; "), 10);
  last += "exchange";
  for (const auto& [directives, blocks] : {std::pair(kPassed + "exchange", 0), {last, 1}, {first, 1}}) {
    const auto tiles = built(program, directives);
    const auto expanded = expand(tiles);
    CHECK(std::count_if(tiles.arrays.begin(), tiles.arrays.end(),
                        [](const Array& array) { return array.name.ends_with("_block"); }) == blocks);
    for (const auto* tree : {&tiles, &expanded}) {
      auto got = tensors(program);
      execute(*tree, pointers(got), {});
      CHECK(got == want);
    }
  }
}

/// Each of a, b, c and d beside each other: lanes hold a and b in the first two splits, a and c in the third.
const char* const kSplits =
    "index a = 12\nindex b = 8\nindex c = 6\nindex d = 4\nindex k = 16\nindex l = 8\n"
    "input A(a, c, k) : f64\ninput B(k, b, d) : f64\ninput E(a, d, l) : f64\ninput F(b, c, l) : f64\n"
    "input G(a, b, k) : f64\ninput H(c, d, k) : f64\ninput z(a, b) : f64\ninout y(a, b, c, d) : f64\n"
    "y(a, b, c, d) += -sum(k, A(a, c, k) * B(k, b, d)) + sum(l, E(a, d, l) * F(b, c, l)) - z(a, b)"
    " - sum(k, G(a, b, k) * H(c, d, k))";
const std::string kSplitTiles =
    "tile a:8; tile b:8; tile c:4:2; tile d:4:2; tile k:8; tile l:8:8; order task a0 c0 sum ";
std::string on_gpu(const std::string& pipeline) {
  const auto piped = [&](const std::string& loop) {
    return pipeline.empty() ? "" : "pipeline " + loop + pipeline + ";";
  };
  return "products 2;" + kSplitTiles + "k0; stage A at k0 async c1 c a k; stage B at k0 async d1 d b k pad 2;" +
         "atom m16n8k8_f64 rows c1 c a columns d1 d b depth k warps 2x2;" + piped("k0") + "products 1;" + kSplitTiles +
         "l0; stage E at l0 async d1 d a l; stage F at l0 async c1 c b l;" +
         "atom m16n8k8_f64 rows d1 d a columns c1 c b depth l warp c1 d1 warps 2x2;" + piped("l0") +
         "exchange; products 3;" + kSplitTiles + "k0; stage G at k0 async b a k; stage H at k0 async d1 c1 d c k;" +
         "atom m16n8k4_f64 rows b a columns d1 c1 d c depth k warps 4x1;" + piped("k0") + "exchange";
}

TEST_CASE("sums pass from section to section on a GPU: in registers, and between lanes") {
  const auto program = ir::lower(Program::parse(kSplits)).steps.front().program;
  auto want = tensors(program);
  ir::interpret(program, pointers(want), {});
  for (const std::string pipeline : {"", " 2", " 3", " 4"}) {
    INFO(pipeline);
    const auto tiles = build(program, *group_of(program), parse_directives(on_gpu(pipeline)), Target::cuda);
    const auto expanded = expand(tiles);
    for (const auto* tree : {&tiles, &expanded}) {
      auto got = tensors(program);
      execute(*tree, pointers(got), {});
      CHECK(got == want);
    }
  }
}

TEST_CASE("sections on a GPU that break a rule") {
  using Catch::Matchers::ContainsSubstring;
  const auto program = ir::lower(Program::parse(kSplits)).steps.front().program;
  const auto text = [&](const std::string& from, const std::string& to) -> std::string {
    auto directives = on_gpu(" 2");
    directives.replace(directives.find(from), from.size(), to);
    return refused([&] { expand(build(program, *group_of(program), parse_directives(directives), Target::cuda)); });
  };
  CHECK_THAT(text("exchange; products 3", "products 3"), ContainsSubstring("`exchange` is missing"));
  CHECK_THAT(text("products 2;", "products 1 2;"), ContainsSubstring("on a GPU each section has one product"));
  CHECK_THAT(text("warp c1 d1 warps 2x2", "warp c d1 warps 2x2"), ContainsSubstring("which c is none of"));
  CHECK_THAT(text("warp c1 d1 warps 2x2", "warp c1 d1 warps 4x1"), ContainsSubstring("its digits make 2x2 warps"));
  CHECK_THAT(text("warp c1 d1 warps 2x2", "warp warps 2x2"), ContainsSubstring("a warp's number has 1 to"));
  CHECK_THAT(text("depth k warps 4x1", "depth k warps 2x1"), ContainsSubstring("the same number of threads"));
  CHECK_THAT(text("pipeline l0 2", "pipeline l0 3"), ContainsSubstring("one pipeline, of 2 stages"));
  CHECK_THAT(text("order task a0 c0 sum k0; stage G", "order task a0 serial c0 sum k0; stage G"),
             ContainsSubstring("all sections of a group have the same tasks"));
  auto directives = on_gpu(" 2");
  for (auto at = directives.find("tile c:4:2"); at != std::string::npos; at = directives.find("tile c:4:2"))
    directives.replace(at, 10, "tile c:6:3");
  CHECK_THROWS_WITH(build(program, *group_of(program), parse_directives(directives), Target::cuda),
                    ContainsSubstring("have 1, 2, 4, ... values"));
}

TEST_CASE("a group is a sum of products over the result's indices") {
  const auto group = group_of(lowered(kThree));
  REQUIRE(group);
  REQUIRE(group->products.size() == 3);
  REQUIRE(group->addends.size() == 2);
  const auto negative = [&](std::size_t k) { return group->products[k].negative; };
  CHECK((!negative(0) && negative(1) && !negative(2)));
  const auto a = static_cast<std::size_t>(0), b = static_cast<std::size_t>(1);
  CHECK(group->products[0].role[a] == group->products[0].role[b]);
  CHECK(group->products[1].role[a] != group->products[1].role[b]);

  CHECK(!group_of(lowered("y(a, b, c) += sum(k, A(a, b, k) * B(k, c))")));  // one product is a contraction
  CHECK(!group_of(lowered("y(a, b, c) += sum(k, A(a, b, k) * B(k, c)) + sum(l, E(l, a) * H(l, c))")));  // b in neither
  CHECK(!group_of(lowered("y(a, b, c) += z(a, b) * (sum(k, A(a, b, k) * B(k, c)) + sum(l, G(b, a, l) * H(l, c)))")));
}

TEST_CASE("a group's kernel is what the interpreter computes, before and after expand") {
  const auto program = lowered(kThree);
  auto want = tensors(program);
  ir::interpret(program, pointers(want), {});
  // A depth in parts adds to what the first part set; sections come in any order.
  const std::string parted =
      "products 2; tile a:4; tile l:1; order task a0 serial l0; stage E at l0 scratch l a; stage F at l0 scratch l b c;"
      "atom fma rows a columns b c depth l lanes 8; products 3 1; tile a:4:2; order task a0 serial a1;"
      "stage G at a1 scratch l b a; atom fma rows b a columns c depth l lanes 8; stage A at a1 scratch k b a;"
      "atom fma rows b a columns c depth k lanes 8";
  for (const auto& directives : {kWhole, parted}) {
    const auto tiles = built(program, directives);
    const auto expanded = expand(tiles);
    for (const auto* tree : {&tiles, &expanded}) {
      auto got = tensors(program);
      execute(*tree, pointers(got), {});
      CHECK(got == want);
    }
  }
}

TEST_CASE("sections use the scratch memory of those before them") {
  const auto program = lowered("y(a, b, c) += sum(l, A(a, b, l + 0) * H(l, c)) + sum(k, A(a, b, k) * B(k, c))");
  const auto section = [](const std::string& depth) {
    return "tile a:6; order task a0; stage A at a0 scratch " + depth + " b a; atom fma rows b a columns c depth " +
           depth + " lanes 8;";
  };
  const auto both = built(program, "products 1;" + section("l") + "products 2;" + section("k"));
  std::vector<std::int64_t> elements;
  for (const auto& array : both.arrays) {
    if (array.space == Space::scratch) elements.push_back(array.elements());
  }
  // What A is packed into, with as many as the larger depth has, and the block of the result.
  CHECK(elements == std::vector<std::int64_t>{5 * 6 * 6, 6 * 6 * 19});
}

TEST_CASE("a group's directives that break a rule") {
  using Catch::Matchers::ContainsSubstring;
  const auto program = lowered(kThree);
  const auto text = [&](const std::string& directives) { return refused([&] { built(program, directives); }); };
  CHECK_THAT(text(kFirst), ContainsSubstring("begin with their products"));
  CHECK_THAT(text("products 1 3;" + kFirst), ContainsSubstring("a product of the group is missing"));
  CHECK_THAT(text(kWhole + "products 2;" + kSecond), ContainsSubstring("has it already"));
  CHECK_THAT(text(kWhole + "products 4;" + kSecond), ContainsSubstring("no product 4"));
  CHECK_THAT(text("products 2;" + kFirst), ContainsSubstring("no operand of the product has that name"));
  CHECK_THAT(text("products 1 3; tile a:4:2; order task a0 serial a1; stage A at a1 scratch k b a;"
                  "atom fma rows b a columns c depth k lanes 8; stage G at a1 scratch l b a;"
                  "atom fma rows a b columns c depth l lanes 8"),
             ContainsSubstring("have the same rows, columns and lanes"));
  CHECK_THAT(
      text("products 1 3;" + kFirst + "products 2; order task a serial b; atom fma rows columns c depth l lanes 1"),
      ContainsSubstring("all sections of a group have the same tasks"));
  CHECK_THAT(text(kWhole + "nontemporal"), ContainsSubstring("the result is read too"));
  CHECK_THAT(text("products 1 3; tile a:4:2; tile l:1; order task a0 serial a1 l0; stage A at a1 scratch k b a;"
                  "atom fma rows b a columns c depth k lanes 8; stage G at a1 scratch l0 l b a;"
                  "atom fma rows b a columns c depth l lanes 8; products 2;" +
                  kSecond),
             ContainsSubstring("in one part each"));
  CHECK_THAT(text(kWhole + "exchange"), ContainsSubstring("a task has one register tile of either section"));
  CHECK_THAT(text("products 1 3;" + kFirst + "exchange; products 2;" + kSecond),
             ContainsSubstring("there is no section before the first"));
  const auto changed = [&](const std::string& from, const std::string& to) {
    auto directives = kPassed;
    return directives.replace(directives.find(from), from.size(), to);
  };
  CHECK_THAT(text(changed("columns c b depth l lanes 8", "columns c b depth l lanes 4")),
             ContainsSubstring("registers of both sections are alike"));
  CHECK_THROWS_WITH(build(program, *group_of(program), parse_directives(kWhole), Target::cuda),
                    ContainsSubstring("on a GPU each section has one product"));
}

}  // namespace kernel_group_test
