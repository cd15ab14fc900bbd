// The verifier: each rule broken once. And the printer, which every message of the verifier relies on; and what is
// known of accesses.
#include <functional>
#include <limits>

#include "catch.hpp"
#include "ir/program.hpp"
#include "programs.hpp"
#include "ricci/error.hpp"

namespace ir_verify_test {

using namespace ricci;
using namespace ricci::ir;
using Catch::Matchers::StartsWith;
using ir::Program;

namespace {

/// add(scale(alpha, c128(conj(A))), B): every kind of node but mul.
Program rich() {
  return test::lowered(test::problem_of("ab->ba", Layout::row_major(DType::c64, {3, 4}),
                                        Layout::row_major(DType::c128, {4, 3}), Factor::any, Factor::one, true));
}

Node& node_of(Program& program, OpCode op) {
  for (auto& node : program.nodes) {
    if (node.kind == NodeKind::op && node.op == op) return node;
  }
  FAIL("the program has no such node");
  return program.nodes.front();
}

Node& load_of(Program& program) { return program.nodes[static_cast<std::size_t>(program.find_load(0))]; }

}  // namespace

TEST_CASE("a sound program passes") {
  CHECK_NOTHROW(verify(rich()));
  CHECK(print(rich()) ==
        "index b = 4\n"
        "index a = 3\n"
        "input A : c64 [0..11] align 16\n"
        "output B : c128 [0..11] align 16\n"
        "param alpha : c128\n"
        "B[3*b + a] = add(scale(alpha, c128(conj(A[b + 4*a]))), B[3*b + a])\n");
}

TEST_CASE("each rule of a program, broken once") {
  struct Row {
    const char* rule;
    std::function<void(Program&)> breaks;
  };
  const Row rows[] = {
      {"extents start at 0", [](Program& p) { p.indices[0].extent = -1; }},
      {"names are unique", [](Program& p) { p.indices[0].name = p.indices[1].name; }},
      {"names are unique", [](Program& p) { p.buffers[0].name = "a"; }},
      {"names are unique", [](Program& p) { p.params[0].name = "B"; }},
      {"a buffer has a first and a last offset", [](Program& p) { p.buffers[0].last = -1; }},
      {"an access names a buffer of the program", [](Program& p) { load_of(p).source = 2; }},
      {"an access names a buffer of the program", [](Program& p) { p.statements[0].buffer = -1; }},
      {"an access has one coefficient per index", [](Program& p) { load_of(p).offset.coefficient.pop_back(); }},
      {"an access has one coefficient per index", [](Program& p) { p.statements[0].offset.coefficient.push_back(0); }},
      {"an access stays inside its buffer", [](Program& p) { load_of(p).offset.constant = -1; }},
      {"an access stays inside its buffer", [](Program& p) { load_of(p).offset.coefficient[0] = 2; }},
      {"an access stays inside its buffer", [](Program& p) { p.statements[0].offset.constant = 1; }},
      {"a load has its buffer's type", [](Program& p) { load_of(p).type = DType::u64; }},
      {"a parameter exists and has its declared type", [](Program& p) { p.params[0].type = DType::f64; }},
      {"a parameter exists and has its declared type", [](Program& p) { p.params.clear(); }},
      {"operands stand before their users", [](Program& p) { node_of(p, OpCode::conj).operand[0] = 5; }},
      {"operands stand before their users", [](Program& p) { node_of(p, OpCode::add).operand[1] = -1; }},
      {"nothing is computed in f16 or bf16", [](Program& p) { node_of(p, OpCode::add).type = DType::bf16; }},
      {"both operands have the result's type", [](Program& p) { node_of(p, OpCode::add).type = DType::f64; }},
      {"both operands have the result's type", [](Program& p) { node_of(p, OpCode::scale).operand[1] = 0; }},
      {"conj takes and gives one complex type", [](Program& p) { node_of(p, OpCode::conj).type = DType::c128; }},
      {"no cast drops an imaginary part", [](Program& p) { node_of(p, OpCode::cast).type = DType::f64; }},
      {"no cast from floats to integers",
       [](Program& p) {
         p.buffers[0].type = load_of(p).type = DType::f64;
         p.nodes[1] = p.nodes[0];  // in place of conj
         node_of(p, OpCode::cast).type = DType::i64;
       }},
      {"a statement writes an output", [](Program& p) { p.buffers[1].written = false; }},
      {"a statement has a value", [](Program& p) { p.statements[0].value = 99; }},
      {"a statement has a value", [](Program& p) { p.statements[0].value = -1; }},
      {"a statement stores a value of its buffer's type", [](Program& p) { p.statements[0].value = 1; }},
  };
  for (const auto& row : rows) {
    auto program = rich();
    row.breaks(program);
    INFO(row.rule);
    CHECK_THROWS_MATCHES(
        verify(program), InternalError, Catch::Matchers::Predicate<InternalError>([&](const InternalError& error) {
          const std::string start =
              "a program breaks the rule \"" + std::string(row.rule) + "\"; please report this program:\n";
          return std::string(error.what()).rfind(start, 0) == 0;
        }));
  }
}

TEST_CASE("an empty domain reaches nothing") {
  auto program = test::lowered(test::dense("ab->ba", {0, 4}));
  CHECK_NOTHROW(verify(program));
}

TEST_CASE("affine sums as text") {
  const std::vector<LoopIndex> indices = {{"a", 2}, {"b", 3}, {"c", 4}};
  const auto text = [&](std::initializer_list<std::int64_t> coefficient, std::int64_t constant) {
    return print(Affine{coefficient, constant}, indices);
  };
  CHECK(text({0, 0, 0}, 0) == "0");
  CHECK(text({1, 0, 0}, 0) == "a");
  CHECK(text({-1, 0, 0}, 0) == "-a");
  CHECK(text({12, -4, 1}, 7) == "12*a - 4*b + c + 7");
  CHECK(text({0, 0, 0}, -3) == "-3");
  CHECK(text({0, -1, 2}, -3) == "-b + 2*c - 3");
  CHECK(text({std::numeric_limits<std::int64_t>::min(), 0, 0}, 0) == "-9223372036854775808*a");
}

TEST_CASE("bounds of affine sums") {
  const std::vector<LoopIndex> indices = {{"a", 2}, {"b", 3}};
  const auto reach = bounds({{-5, 7}, 3}, indices);
  CHECK(reach.first == -2);
  CHECK(reach.last == 17);
}

TEST_CASE("which neighbours can be one access") {
  const auto program = [](std::vector<std::int64_t> strides, std::int64_t alignment) {
    auto input = Layout::strided(DType::f32, {12, 8}, std::move(strides));
    input.alignment = alignment;
    return test::lowered(test::problem_of("ab->ab", input, Layout::row_major(DType::f32, {12, 8})));
  };
  const auto fits = [](const Program& p, int index, int vector) {
    return vector_access(p, 0, p.nodes[0].offset, index, vector);
  };
  CHECK(fits(program({8, 1}, 16), 1, 4));
  CHECK(fits(program({8, 1}, 8), 1, 2));
  CHECK_FALSE(fits(program({8, 1}, 8), 1, 4));    // the base may lie between
  CHECK_FALSE(fits(program({10, 1}, 16), 1, 4));  // rows begin between
  CHECK(fits(program({10, 1}, 16), 1, 2));
  CHECK_FALSE(fits(program({8, 1}, 16), 0, 2));   // no neighbours
  CHECK_FALSE(fits(program({8, -1}, 16), 1, 2));  // backwards
  CHECK(fits(program({1, 12}, 16), 0, 4));
  CHECK(fits(program({1, 17}, 16), 1, 1));
  CHECK(fits(program({0, 1}, 16), 1, 4));
  auto shifted = program({8, 1}, 16);
  shifted.nodes[0].offset.constant = 2;
  CHECK(fits(shifted, 1, 2));
  CHECK_FALSE(fits(shifted, 1, 4));
}

}  // namespace ir_verify_test
