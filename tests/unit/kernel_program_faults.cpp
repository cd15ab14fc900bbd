// Faults planted into the trees of programs, each found by name.
#include "catch.hpp"
#include "ir/builder.hpp"
#include "kernel/expand.hpp"
#include "kernel/print.hpp"
#include "kernel/program/build_program.hpp"
#include "unit/kernel_places.hpp"

namespace kernel_program_faults_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

using ir::OpCode;

/// y[p] = sum of x[p][q]; z[p] = x[p][0] where the sum is positive.
ir::Program sums() {
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"p", 10}, {"q", 3000}};
  b.program.buffers = {
      {"x", DType::f32, false, 0, 29999, 16}, {"y", DType::f32, true, 0, 9, 16}, {"z", DType::f32, true, 0, 9, 16}};
  const auto sum = b.reduce(OpCode::add, b.load(0, {{3000, 1}, 0}), {1});
  b.store(1, {{1, 0}, 0}, sum);
  const auto zero = b.constant(0, DType::f32);
  b.store(2, {{1, 0}, 0}, b.guard(b.op(OpCode::less, DType::u8, zero, sum), b.load(0, {{3000, 0}, 0})));
  return b.finish();
}
Kernel by_block() {
  return build_program(sums(), parse_directives("order task p; threads 128; cooperative 128"), Target::cuda);
}
Kernel by_warp() {
  return build_program(sums(), parse_directives("tile p:4; order task p0 thread p; threads 128; cooperative 32"),
                       Target::cuda);
}

/// y[p] = x[p] * x[p], w[p] = x[p] + v[2 p].
ir::Program fields() {
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"p", 1003}};
  for (const char* name : {"x", "v", "y", "w"})
    b.program.buffers.push_back({name, DType::f64, name[0] > 'v' && name[0] != 'x', 0, 2004, 64});
  const auto x = b.load(0, {{1}, 0});
  b.store(2, {{1}, 0}, b.op(OpCode::mul, DType::f64, x, x));
  b.store(3, {{1}, 0}, b.op(OpCode::add, DType::f64, x, b.load(1, {{2}, 0})));
  return b.finish();
}
Kernel by_lanes(const std::string& more) {
  return build_program(fields(),
                       parse_directives("tile p:400:8; order task p0 serial p1; lanes p 8; nontemporal; " + more),
                       Target::cpu);
}
Kernel vectors() { return by_lanes(""); }
Kernel strips() { return by_lanes("strip 64"); }
Kernel parts() { return by_lanes("strip 64; part 1; part 2"); }
/// Two values for each thread, the last of which may lie past the end.
Kernel ragged() {
  return build_program(fields(), parse_directives("tile p:256:128; order task p0 thread p; threads 128"), Target::cuda);
}

/// Prefixes of rows of x in y, and where x is odd in order in z.
ir::Program prefixes() {
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"p", 3}, {"q", 1000}};
  b.program.buffers = {{"x", DType::i32, false, 0, 2999, 64},
                       {"y", DType::i32, true, 0, 2999, 64},
                       {"z", DType::i32, true, 0, 2999, 64}};
  const auto x = b.load(0, {{1000, 1}, 0});
  b.store(1, {{1000, 0}, 0}, b.scan(OpCode::add, x, 1, false), 1);
  const auto odd = b.op(OpCode::bit_and, DType::i32, x, b.constant(1, DType::i32));
  b.store(2, {{1000, 0}, 0}, b.compact(odd, x, b.constant(0, DType::i64), 1), 1);
  return b.finish();
}
Kernel scanned(Target target) {
  const std::string more = target == Target::cuda ? "; threads 64; cooperative 64 items 4" : "";
  return build_program(prefixes(), parse_directives("order task p" + more), target);
}
Kernel scanned_cuda() { return scanned(Target::cuda); }
Kernel scanned_cpu() { return scanned(Target::cpu); }

/// The definition of registers with that name.
Place definition_of(const Kernel& kernel, const std::string& name) {
  return [&kernel, name](const Statement& s) { return kernel.array(std::get<Define>(s.node).array).name == name; };
}
bool has_values(const Statement& s) { return !std::get<If>(s.node).values.empty(); }
Value as(Value::Kind kind, Value operand, int lane) {
  Value value;
  value.kind = kind;
  value.type = operand.type;
  value.affine = Affine(lane);
  value.operands = {std::move(operand)};
  return value;
}

Place loop_over(const Kernel& kernel, Bind bind, const std::string& name) {
  return [&kernel, bind, name](const Statement& s) {
    const auto& loop = std::get<Loop>(s.node);
    return loop.bind == bind && kernel.vars[static_cast<std::size_t>(loop.var)].name == name;
  };
}

/// Of so many neighbours of x, from its first one on.
void add_prefetch(Kernel& k, std::int64_t count) {
  Prefetch prefetch{{0, {Affine(0)}}, {}, false};
  prefetch.count = count;
  get<Loop>(k, loop_over(k, Bind::unroll, "q")).body.push_back({std::move(prefetch)});
}

const Fault kFaults[] = {
    // ---- values and registers
    {"a value of another type", by_warp,
     [](Kernel& k) { get<Define>(k, definition_of(k, "sum")).value.type = DType::f64; }, "a value of type f64"},
    {"registers that nothing declares", by_warp, [](Kernel& k) { drop<Define>(k, definition_of(k, "sum")); },
     "where it is not declared"},
    {"a value for several registers", by_warp, [](Kernel& k) { array_of(k, "sum").shape = {2}; },
     "of several registers begins with a value"},
    {"a condition that is no u8", by_warp,
     [](Kernel& k) { get<If>(k, has_values).values.front() = zero_of(DType::f32); }, "decides, and is no u8"},
    {"a place that is no whole number", scanned_cuda, [](Kernel& k) { get<Scatter>(k).place = zero_of(DType::f64); },
     "and no i64"},
    {"results in an operand", scanned_cuda, [](Kernel& k) { get<Scatter>(k).array = 0; }, "x takes no results"},
    // ---- loops
    {"rounds that do not get on", by_warp, [](Kernel& k) { get<Loop>(k, loop_over(k, Bind::unroll, "q")).step = 0; },
     "q goes in steps of 0"},
    {"rounds that begin before the first value", by_warp,
     [](Kernel& k) { get<Loop>(k, loop_over(k, Bind::unroll, "q")).first = Affine(-1); }, "q begins below 0"},
    {"a task loop that leaves tasks out", by_block,
     [](Kernel& k) { get<Loop>(k, loop_over(k, Bind::task, "p")).step = 2; }, "p goes in steps of 2"},
    {"vectors on a GPU", by_warp, [](Kernel& k) { get<Loop>(k, loop_over(k, Bind::unroll, "q")).bind = Bind::vector; },
     "made of vectors on a GPU"},
    {"a remainder in larger steps", vectors, [](Kernel& k) { get<Sweep>(k).parts.back().step = 16; },
     "p goes in steps of 16 after steps of 8"},
    {"steps shorter than a vector", vectors, [](Kernel& k) { get<Sweep>(k).parts.front().step = 4; },
     "may reach element"},
    {"a strip-mined loop that runs on", vectors,
     [](Kernel& k) {
       auto& sweep = get<Sweep>(k);
       sweep.end = sweep.end + Affine(1);
     },
     "p may end at"},
    {"a strip-mined loop that begins too early", vectors,
     [](Kernel& k) {
       auto& sweep = get<Sweep>(k);
       sweep.first = sweep.first - Affine(1);
     },
     "p begins below 0"},
    {"a strip-mined loop of unrolled rounds", vectors,
     [](Kernel& k) { get<Sweep>(k).parts.front().bind = Bind::unroll; }, "bound to something else"},
    // ---- bounds
    {"values past the end that are read", ragged,
     [](Kernel& k) { get<Let>(k, [](const Statement& s) { return std::get<Let>(s.node).most >= 0; }).most += 1; },
     "p_at may be 1003"},
    {"threads past the end", by_warp, [](Kernel& k) { get<If>(k).when.clear(); }, "may reach element"},
    {"two threads that store to one element", ragged,
     [](Kernel& k) {
       auto& outer = get<If>(k);
       auto* loop = std::get_if<Loop>(&outer.then.back().node);
       REQUIRE(loop != nullptr);
       get<If>(k, [&](const Statement& s) { return &std::get<If>(s.node) != &outer; }).when.clear();
     },
     "with no barrier between"},
    {"a row that is no whole vectors", strips, [](Kernel& k) { get<CopyRow>(k).count = 60; },
     "a row of 60 is copied by vectors of 8"},
    {"a row that is too long for its array", strips,
     [](Kernel& k) {
       auto& copy = get<CopyRow>(k);
       copy.to.index.front() = copy.to.index.front() + Affine(10000);
     },
     "may reach element"},
    {"a row that is read before it is written", strips,
     [](Kernel& k) {
       const auto in = get<CopyRow>(k).to.array;
       auto [body, place] = find<CopyRow>(k.body);
       REQUIRE(body != nullptr);
       while (std::holds_alternative<CopyRow>((*body)[place].node) &&
              std::get<CopyRow>((*body)[place].node).to.array == in)
         body->erase(body->begin() + static_cast<std::ptrdiff_t>(place));
     },
     "before anything is written to it"},
    {"a prefetch of parts of a unit", by_warp, [](Kernel& k) { add_prefetch(k, 3); }, "runs are multiples of 16 bytes",
     true},
    {"a prefetch past the end", by_warp, [](Kernel& k) { add_prefetch(k, 30004); }, "may reach element", true},
    {"a prefetch of registers", parts, [](Kernel& k) { get<Prefetch>(k).from = {get<Define>(k).array, {}}; },
     "is prefetched"},
    // ---- threads
    {"no barrier between the warps' parts", by_block, [](Kernel& k) { drop<Barrier>(k); },
     "with no barrier after what is written to it"},
    {"a barrier that some threads do not reach", by_block,
     [](Kernel& k) { guard<Barrier>(k, {Affine::of(var_of(k, "member")), 64}); },
     "a barrier where not all threads of a block pass"},
    {"a digit of the thread's number that is too short", by_warp,
     [](Kernel& k) { k.vars[static_cast<std::size_t>(var_of(k, "t"))].extent = 2; },
     "a loop over 64 threads in a block of 128"},
    {"lanes that combine without the others", by_warp,
     [](Kernel& k) { guard<LaneReduce>(k, {Affine::of(var_of(k, "member")), 3}); },
     "a combination of lanes where not all lanes of a warp pass"},
    {"lanes that combine by differences", by_warp, [](Kernel& k) { get<LaneReduce>(k).op = OpCode::sub; },
     "by sub, which does not associate"},
    {"lanes that scan without the others", scanned_cuda,
     [](Kernel& k) { guard<LaneScan>(k, {Affine::of(var_of(k, "lane")), 3}); }, "where not all lanes of a warp pass"},
    {"an exchange without some lanes", scanned_cuda,
     [](Kernel& k) { guard<Define>(k, {Affine::of(var_of(k, "lane")), 3}, definition_of(k, "below")); },
     "an exchange between lanes where not all lanes of a warp pass"},
    {"an exchange that follows from what a lane has", by_warp,
     [](Kernel& k) {
       auto& branch = get<If>(k, has_values);
       auto own = get<Loop>(k, loop_over(k, Bind::unroll, "q")).body.front();
       branch.values.front() = apply(OpCode::less, DType::u8, {std::get<Store>(own.node).value, zero_of(DType::f32)});
       branch.values.front().operands.front() = load_of(DType::f32, {0, {Affine::of(var_of(k, "member"))}});
       branch.then.push_back({LaneReduce{{get<LaneReduce>(k).registers}, OpCode::add}});
     },
     "a combination of lanes where not all lanes of a warp pass", true},
    {"a lane that a warp does not have", scanned_cuda,
     [](Kernel& k) {
       auto& below = get<Define>(k, definition_of(k, "below"));
       below.value = as(Value::Kind::shuffle, below.value.operands.front(), 32);
     },
     "lane 32 of a warp"},
    {"a ballot of numbers", scanned_cuda,
     [](Kernel& k) {
       auto& store = get<Store>(k, store_to(k, "passes"));
       store.value.operands.front() = zero_of(DType::i32);
     },
     "has a value of type i32"},
    {"prefixes of a number", scanned_cpu,
     [](Kernel& k) {
       auto& sums = get<Define>(k, definition_of(k, "upto")).value.operands.front();
       sums.operands.front() = zero_of(DType::i32);
     },
     "the lanes of no vector of a CPU"},
    {"lanes of registers that there are not", scanned_cpu,
     [](Kernel& k) {
       auto& sums = get<Define>(k, definition_of(k, "upto")).value.operands.front();
       sums.operands.front().access.index.front() = Affine(1);
     },
     "is outside of its"},
};

}  // namespace

TEST_CASE("kernels of programs without a fault pass") {
  check_sound({by_block, by_warp, vectors, strips, parts, ragged, scanned_cuda, scanned_cpu});
}

TEST_CASE("faults planted into kernels of programs are found by name") { check_faults(kFaults); }

TEST_CASE("what a round leaves in registers decides which threads pass in the next one") {
  auto kernel = by_block();
  auto& loop = get<Loop>(kernel, loop_over(kernel, Bind::unroll, "q"));
  loop.first = Affine(0);  // the same rounds of all threads
  auto& round = loop.body;
  auto& store = std::get<Store>(round.front().node);
  store.value = load_of(DType::f32, {0, {Affine::of(var_of(kernel, "member"))}});
  const auto sum = load_of(DType::f32, store.to);
  round.insert(round.begin(),
               {If{{}, {{Barrier{}}}, {}, {apply(OpCode::less, DType::u8, {zero_of(DType::f32), sum})}}});
  INFO(print(kernel));
  CHECK_THROWS_WITH(verify(kernel),
                    Catch::Matchers::ContainsSubstring("a barrier where not all threads of a block pass"));
}

}  // namespace kernel_program_faults_test
