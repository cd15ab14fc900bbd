// The printer and the verifier on every kind of node: the whole text of one program, and each rule broken once.
#include <algorithm>
#include <functional>

#include "catch.hpp"
#include "ir/builder.hpp"
#include "ricci/error.hpp"

namespace ir_verify_any_test {

using namespace ricci;
using namespace ricci::ir;
using ir::Program;

namespace {

/// A guarded sum with itself added to what was there, a scan, a compaction, bits and a complex division.
Program rich() {
  Builder b;
  b.program.indices = {{"i", 3}, {"k", 4}, {"q", 5}};
  b.program.buffers = {{"x", DType::f64, false, 0, 11, 8},    {"n", DType::i64, false, 0, 4, 8},
                       {"y", DType::f64, true, 0, 2, 8},      {"prefix", DType::i64, true, 0, 17, 8},
                       {"found", DType::i64, true, 0, 14, 8}, {"z", DType::c128, true, -2, 0, 16}};
  b.program.params = {{"t", DType::c128}};
  const auto x = b.load(0, {{4, 1, 0}, 0});
  const auto small = b.op(OpCode::less_equal, DType::u8, x, b.constant(2.5, DType::f64));
  const auto sum = b.reduce(OpCode::add, b.guard(small, b.op(OpCode::sqrt, DType::f64, x)), {1});
  const auto two = b.constant(2, DType::i64);
  const auto first = b.op(OpCode::less, DType::u8, b.index(0), two);
  b.store(2, {{1}, 0}, b.guard(first, b.op(OpCode::add, DType::f64, sum, b.load(2, {{1}, 0}))));
  const auto n = b.load(1, {{0, 0, 1}, 0});
  b.store(3, {{6}, 0}, b.scan(OpCode::add, n, 2, true, b.index(0)), 1);
  const auto odd = b.op(OpCode::bit_and, DType::i64, n, b.constant(1, DType::i64));
  const auto base = b.op(OpCode::mul, DType::i64, b.index(0), b.constant(5, DType::i64));
  b.store(4, {{0}, 0}, b.compact(odd, n, base, 2), 1);
  const auto chosen = b.op(OpCode::select, DType::f64, first, b.load(0, {{1}, 0}), b.constant(0, DType::f64));
  b.store(5, {{-1}, 0}, b.op(OpCode::div, DType::c128, b.cast(chosen, DType::c128), b.param(0)));
  return b.finish();
}

Node& node_of(Program& program, NodeKind kind, OpCode op = OpCode::add) {
  for (auto& node : program.nodes) {
    if (node.kind == kind && (kind != NodeKind::op || node.op == op)) return node;
  }
  FAIL("the program has no such node");
  return program.nodes.front();
}

NodeId position(const Program& program, const Node& node) { return static_cast<NodeId>(&node - program.nodes.data()); }

Node constant(DType type, Scalar value, std::uint64_t integer = 0) {
  Node node;
  node.kind = NodeKind::constant;
  node.type = type;
  node.value = value;
  node.integer = integer;
  return node;
}

/// Another node in front of all others.
void put_first(Program& program, Node node) {
  for (auto& other : program.nodes) {
    for (int k = 0; k < operand_count(other); ++k) ++other.operand[k];
  }
  for (auto& statement : program.statements) ++statement.value;
  program.nodes.insert(program.nodes.begin(), std::move(node));
}

std::string failure(const Program& program) {
  try {
    verify(program);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "sound";
}

/// The first constant that is not an integer.
Node& real_constant(Program& program) {
  return *std::find_if(program.nodes.begin(), program.nodes.end(),
                       [](const Node& n) { return n.kind == NodeKind::constant && !is_integer(n.type); });
}

}  // namespace

TEST_CASE("the text of every kind of node") {
  CHECK(failure(rich()) == "sound");
  CHECK(print(rich()) ==
        "index i = 3\n"
        "index k = 4\n"
        "index q = 5\n"
        "input x : f64 [0..11] align 8\n"
        "input n : i64 [0..4] align 8\n"
        "output y : f64 [0..2] align 8\n"
        "output prefix : i64 [0..17] align 8\n"
        "output found : i64 [0..14] align 8\n"
        "output z : c128 [-2..0] align 16\n"
        "param t : c128\n"
        "let %1 = less(i, i64(2))\n"
        "let %2 = x[4*i + k]\n"
        "let %3 = n[q]\n"
        "y[i] = guard(%1, add(sum(k : guard(less_equal(%2, f64(2.5)), sqrt(%2))), y[i]))\n"
        "prefix[6*i] by 1 = exclusive_scan(sum, q : i, %3)\n"
        "found[0] by 1 = compact(q : and(%3, i64(1)), %3, mul(i, i64(5)))\n"
        "z[-i] = div(c128(select(%1, x[i], f64(0))), t)\n");
  auto free = rich();
  free.exact = false;
  CHECK(print(free).find("param t : c128\nrounding free\nlet %1") != std::string::npos);
  Builder b;
  b.program.buffers = {{"z", DType::c64, true, 0, 0, 8}};
  b.store(0, {}, b.constant({0.1, -2}, DType::c64));
  CHECK(print(b.finish()).find("z[0] = c64(0.1, -2)\n") != std::string::npos);
}

TEST_CASE("what tells kernels apart is in the text") {
  const auto text = [](const std::function<void(Program&)>& change) {
    auto program = rich();
    change(program);
    return print(program);
  };
  const std::function<void(Program&)> changes[] = {
      [](Program& p) { p.exact = false; },
      [](Program& p) { p.statements[1].step = 2; },
      [](Program& p) { node_of(p, NodeKind::scan).exclusive = false; },
      [](Program& p) { node_of(p, NodeKind::scan).op = OpCode::maximum; },
      [](Program& p) { node_of(p, NodeKind::scan).operand[1] = -1; },
      [](Program& p) { node_of(p, NodeKind::reduce).op = OpCode::mul; },
      [](Program& p) { node_of(p, NodeKind::reduce).over = {2}; },
      [](Program& p) { real_constant(p).value = 0.1 + 0.2; },
      [](Program& p) { real_constant(p).value = 0.3; },
      [](Program& p) { node_of(p, NodeKind::constant).integer = (std::uint64_t{1} << 53) + 1; },
      [](Program& p) { node_of(p, NodeKind::constant).integer = std::uint64_t{1} << 53; },
      [](Program& p) { node_of(p, NodeKind::constant).type = DType::f32; },
      [](Program& p) { node_of(p, NodeKind::index).source = 1; },
      [](Program& p) { node_of(p, NodeKind::op, OpCode::sqrt).op = OpCode::cbrt; },
  };
  std::vector<std::string> seen = {print(rich())};
  for (const auto& change : changes) {
    const auto changed = text(change);
    CHECK(std::find(seen.begin(), seen.end(), changed) == seen.end());
    seen.push_back(changed);
  }
}

TEST_CASE("each rule about any kind of node, broken once") {
  struct Row {
    const char* rule;
    std::function<void(Program&)> breaks;
  };
  const Row rows[] = {
      {"nodes run over indices of the program", [](Program& p) { node_of(p, NodeKind::reduce).over = {3}; }},
      {"nodes run over indices in ascending order, once",
       [](Program& p) { node_of(p, NodeKind::reduce).over = {1, 1}; }},
      {"nodes run over indices in ascending order, once",
       [](Program& p) { node_of(p, NodeKind::reduce).over = {2, 1}; }},
      {"only reductions, scans and compactions run over indices",
       [](Program& p) { node_of(p, NodeKind::guard).over = {1}; }},
      {"scans and compactions are statements' values",
       [](Program& p) {
         auto& scan = node_of(p, NodeKind::scan);
         node_of(p, NodeKind::compact).operand[1] = position(p, scan);
       }},
      {"nothing is computed in f16 or bf16", [](Program& p) { node_of(p, NodeKind::constant).type = DType::f16; }},
      {"nothing is computed in f16 or bf16",
       [](Program& p) { p.params[0].type = node_of(p, NodeKind::param).type = DType::bf16; }},
      {"only complex constants have an imaginary part",
       [](Program& p) { node_of(p, NodeKind::constant).value = {0, 1}; }},
      {"a constant is a value of its type, an integer one wrapped to it",
       [](Program& p) { put_first(p, constant(DType::i8, 0, 128)); }},
      {"a constant is a value of its type, an integer one wrapped to it",
       [](Program& p) { put_first(p, constant(DType::u16, 0, ~std::uint64_t{0})); }},
      {"a constant is a value of its type, an integer one wrapped to it",
       [](Program& p) { put_first(p, constant(DType::i64, 1)); }},
      {"a constant is a value of its type, an integer one wrapped to it",
       [](Program& p) { put_first(p, constant(DType::f64, 0, 1)); }},
      {"operands that no node uses are -1", [](Program& p) { node_of(p, NodeKind::load).operand[0] = 0; }},
      {"operands that no node uses are -1", [](Program& p) { node_of(p, NodeKind::op, OpCode::sqrt).operand[1] = 0; }},
      {"operands that no node uses are -1", [](Program& p) { node_of(p, NodeKind::guard).operand[2] = 0; }},
      {"an operation is one of those that there are",
       [](Program& p) {
         auto& node = node_of(p, NodeKind::op, OpCode::sqrt);
         node.op = static_cast<OpCode>(200);
         node.operand[0] = -1;
       }},
      {"an index value names an index and is i64", [](Program& p) { node_of(p, NodeKind::index).source = 7; }},
      {"an index value names an index and is i64", [](Program& p) { node_of(p, NodeKind::index).type = DType::i32; }},
      {"a reduction has its terms' type, which is no half type",
       [](Program& p) { node_of(p, NodeKind::reduce).type = DType::f32; }},
      {"reductions and scans combine by an associative operation",
       [](Program& p) { node_of(p, NodeKind::reduce).op = OpCode::sub; }},
      {"bits are those of integers", [](Program& p) { node_of(p, NodeKind::reduce).op = OpCode::bit_or; }},
      {"scans and compactions run over one index", [](Program& p) { node_of(p, NodeKind::scan).over = {1, 2}; }},
      {"scans and compactions run over one index", [](Program& p) { node_of(p, NodeKind::compact).over = {}; }},
      {"a scan begins with a value of its terms' type",
       [](Program& p) {
         put_first(p, constant(DType::f64, 0));
         node_of(p, NodeKind::scan).operand[1] = 0;
       }},
      {"predicates are integers", [](Program& p) { node_of(p, NodeKind::guard).operand[0] = p.find_load(0); }},
      {"predicates are integers", [](Program& p) { node_of(p, NodeKind::compact).operand[0] = p.find_load(0); }},
      {"a guard has its operand's type", [](Program& p) { node_of(p, NodeKind::guard).type = DType::i64; }},
      {"a compaction has its payload's type",
       [](Program& p) { node_of(p, NodeKind::compact).operand[1] = p.find_load(0); }},
      {"a compaction begins at an i64", [](Program& p) { node_of(p, NodeKind::compact).operand[2] = p.find_load(0); }},
      {"complex numbers have no order", [](Program& p) { node_of(p, NodeKind::op, OpCode::div).op = OpCode::minimum; }},
      {"functions take and give f32 or f64",
       [](Program& p) { node_of(p, NodeKind::op, OpCode::mul).op = OpCode::pow; }},
      {"bits are those of integers", [](Program& p) { node_of(p, NodeKind::op, OpCode::add).op = OpCode::shift_left; }},
      {"comparisons give u8", [](Program& p) { node_of(p, NodeKind::op, OpCode::less).type = DType::i64; }},
      {"comparisons take two operands of one real or integer type",
       [](Program& p) {
         put_first(p, constant(DType::f32, 0));
         node_of(p, NodeKind::op, OpCode::less_equal).operand[1] = 0;
       }},
      {"select takes a u8 and two operands of its type",
       [](Program& p) { node_of(p, NodeKind::op, OpCode::select).operand[0] = p.find_load(0); }},
      {"scans and compactions alone have a step", [](Program& p) { p.statements[0].step = 1; }},
      {"scans and compactions alone have a step", [](Program& p) { p.statements[1].step = 0; }},
      {"no statement writes along an index that a node runs over",
       [](Program& p) { p.statements[0].offset.coefficient[1] = 1; }},
      {"every point writes an element of its own", [](Program& p) { p.statements[0].offset.coefficient[0] = 0; }},
      {"an access stays inside its buffer", [](Program& p) { p.buffers[3].last = 16; }},
      {"an access stays inside its buffer", [](Program& p) { p.statements[1].step = 2; }},
      {"an access stays inside its buffer", [](Program& p) { p.statements[1].step = -1; }},
      {"an index that nodes run over has a value inside of them alone",
       [](Program& p) { node_of(p, NodeKind::scan).operand[1] = p.find_load(1); }},
      {"an index that nodes run over has a value inside of them alone",
       [](Program& p) { node_of(p, NodeKind::compact).operand[2] = p.find_load(1); }},
      {"what is written is read at the offsets of the same point alone",
       [](Program& p) {
         auto& load = p.nodes[static_cast<std::size_t>(p.find_load(2))];
         load.offset = {{-1, 0, 0}, 2};
       }},
      {"what is written is read at the offsets of the same point alone",
       [](Program& p) {
         auto& load = p.nodes[static_cast<std::size_t>(p.find_load(1))];
         load.source = 4;  // what a compaction fills
       }},
  };
  for (const auto& row : rows) {
    auto program = rich();
    row.breaks(program);
    INFO(row.rule);
    const std::string start =
        std::string("a program breaks the rule \"") + row.rule + "\"; please report this program:\n";
    CHECK(failure(program).substr(0, start.size()) == start);
  }
}

TEST_CASE("a guard may stand in reductions that agree, and in no others") {
  const auto program = [](OpCode first, OpCode second) {
    Builder b;
    b.program.indices = {{"k", 4}};
    b.program.buffers = {{"x", DType::i64, false, 0, 3, 8}, {"y", DType::i64, true, 0, 0, 8}};
    const auto x = b.load(0, {{1}, 0});
    const auto guard = b.guard(x, x);
    b.store(1, {}, b.op(OpCode::sub, DType::i64, b.reduce(first, guard, {0}), b.reduce(second, guard, {0})));
    return b;
  };
  const auto guards = [](const Program& made) {
    return std::count_if(made.nodes.begin(), made.nodes.end(),
                         [](const Node& node) { return node.kind == NodeKind::guard; });
  };
  // The builder gives each kind of reduction a guard of its own; one that disagreeing reductions share is refused.
  auto shared = program(OpCode::add, OpCode::mul).finish();
  CHECK(guards(shared) == 2);
  NodeId first = -1;
  for (auto& node : shared.nodes) {
    if (node.kind != NodeKind::reduce) continue;
    if (first < 0) first = node.operand[0];
    node.operand[0] = first;
  }
  CHECK_THROWS_AS(verify(shared), InternalError);
}

TEST_CASE("a scan may read what it overwrites") {
  Builder b;
  b.program.indices = {{"q", 4}};
  b.program.buffers = {{"y", DType::i64, true, 0, 9, 8}};
  const auto scanned = [&](std::int64_t read, std::int64_t constant) {
    auto c = b;
    c.store(0, {{0}, 1}, c.scan(OpCode::add, c.load(0, {{read}, constant}), 0, false), 2);
    return c;
  };
  CHECK_NOTHROW(scanned(2, 1).finish());
  CHECK_THROWS_AS(scanned(1, 1).finish(), InternalError);
  CHECK_THROWS_AS(scanned(2, 0).finish(), InternalError);
}

}  // namespace ir_verify_any_test
