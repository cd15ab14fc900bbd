// Directives of programs without an atom: what loops they make, and each rule broken once.
#include "kernel/program/loops.hpp"

#include <cmath>

#include "catch.hpp"
#include "ir/builder.hpp"
#include "kernel/expand.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/program/build_program.hpp"
#include "kernel/schedule.hpp"
#include "ricci/error.hpp"

namespace kernel_program_loops_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

using ir::OpCode;
using Integers = std::vector<std::int64_t>;

/// C[a, b] = sum of A[a, k] B[k, b] over k.
ir::Program products() {
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"a", 37}, {"b", 30}, {"k", 19}};
  b.program.buffers = {
      {"A", DType::f64, false, 0, 702, 16}, {"B", DType::f64, false, 0, 569, 16}, {"C", DType::f64, true, 0, 1109, 16}};
  const auto product = b.op(OpCode::mul, DType::f64, b.load(0, {{19, 0, 1}, 0}), b.load(1, {{0, 1, 30}, 0}));
  b.store(2, {{30, 1, 0}, 0}, b.reduce(OpCode::add, product, {2}));
  return b.finish();
}

/// y[p] = x[p], z[p] = y[p] + x[p]; of another type than lanes have with `type`.
ir::Program fields(DType type = DType::f32) {
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"p", 1000}};
  for (const char* name : {"x", "y", "z"}) b.program.buffers.push_back({name, type, name[0] != 'x', 0, 999, 64});
  const auto x = b.load(0, {{1}, 0});
  b.store(1, {{1}, 0}, x);
  b.store(2, {{1}, 0}, b.op(OpCode::add, type, b.load(1, {{1}, 0}), x));
  return b.finish();
}

ProgramLoops made(const ir::Program& program, const std::string& text, Target target) {
  return loops_of(program, parse_directives(text), target);
}

struct Broken {
  const char* text;
  const char* directive;  ///< that is named
  const char* rule;
};

void check_rules(const ir::Program& program, Target target, const std::vector<Broken>& rows) {
  for (const auto& row : rows) {
    INFO(row.text);
    std::string said;
    try {
      made(program, row.text, target);
    } catch (const PlanError& error) {
      said = error.what();
    }
    const std::string named = *row.directive == '\0' ? "" : std::string(row.directive) + ": ";
    CHECK(said == "schedule: " + named + row.rule);
  }
}

}  // namespace

TEST_CASE("register tiles past the end read nothing that other threads write") {
  // y[p] = x[p], and cos(y[p]) more where that is not 0: 221 values in tiles of 170, two for each of 85 threads.
  ir::Builder b;
  b.program.exact = false;
  b.program.indices = {{"p", 221}};
  b.program.buffers = {{"x", DType::f64, false, 0, 220, 16}, {"y", DType::f64, true, 0, 220, 16}};
  const auto x = b.load(0, {{1}, 0}), old = b.load(1, {{1}, 0});
  const auto some = b.op(OpCode::not_equal, DType::u8, x, b.constant(0, DType::f64));
  b.store(1, {{1}, 0}, b.op(OpCode::add, DType::f64, x, b.guard(some, b.op(OpCode::cos, DType::f64, old))));
  const auto kernel =
      build_program(b.finish(), parse_directives("tile p:170:85; order task p0 thread p; threads 256"), Target::cuda);
  std::vector<double> input(221, 1), output(221, 2);
  CHECK_NOTHROW(execute(expand(kernel), {input.data(), output.data()}, {}));
  CHECK(output == std::vector<double>(221, 1 + std::cos(2.0)));
}

TEST_CASE("threads of a block take neighbours, and what is left out of the order is in registers") {
  const auto program = products();
  const auto loops = made(program, "tile a:32:8; tile b:16; order task a0 b0 thread a b; threads 128", Target::cuda);
  CHECK(loops.tile == Integers{32, 16, 1});
  CHECK(loops.register_tile == Integers{4, 1, 1});
  CHECK(loops.tasks == std::vector<int>{0, 1});
  CHECK(loops.inner == std::vector<int>{1, 0});
  CHECK(loops.positions(0) == 8);
  CHECK(loops.positions() == 128);
  CHECK(loops.tiles(program) == 2 * 2);
  // An index of one tile has no task.
  const auto whole = made(program, "tile a:2; order task b thread a; threads 64; cooperative 32 items 2", Target::cuda);
  CHECK(whole.tile == Integers{37, 1, 1});
  CHECK(whole.register_tile == Integers{19, 1, 1});
  CHECK(whole.tiles(program) == 30);
  CHECK(whole.cooperative_threads == 32);
  CHECK(whole.items_per_thread == 2);
  CHECK(whole.workers() == 2);
}

TEST_CASE("rounds of a CPU compute what is left out of the order, some of it as vectors") {
  const auto program = products();
  const auto loops = made(program, "tile a:24:4; tile b:16; order task a0 serial a1 b0; lanes b 8", Target::cpu);
  CHECK(loops.tile == Integers{24, 30, 1});
  CHECK(loops.register_tile == Integers{4, 2, 1});
  CHECK(loops.tasks == std::vector<int>{0});
  CHECK(loops.inner == std::vector<int>{1, 0});
  CHECK(loops.lane == 1);
  CHECK(loops.lanes == 8);
  CHECK(loops.tiles(program) == 2);
  const auto strips = made(
      fields(), "tile p:512:8; order task p0 serial p1; lanes p 8; strip 64; part 2; part 1; nontemporal", Target::cpu);
  CHECK(strips.strip == 64);
  CHECK(strips.parts == std::vector<std::vector<int>>{{1}, {0}});
  CHECK(strips.nontemporal);
}

TEST_CASE("directives of programs lead back to their text") {
  const std::string text =
      "tile p:512:8\norder task p0 serial p1\nlanes p 8\nstrip 64\npart 2\npart 1\nnontemporal\n"
      "order thread a b\nthreads 256\ncooperative 32\ncooperative 256 items 4\norder\n";
  CHECK(print(parse_directives(text)) == text);
  const auto unknown = [](const std::string& line) -> std::string {
    try {
      parse_directives(line);
    } catch (const PlanError& error) {
      return error.what();
    }
    return {};
  };
  CHECK(unknown("lanes") == "schedule: \"\" in \"lanes\": an index is expected there");
  CHECK(unknown("lanes a x") == "schedule: \"x\" in \"lanes a x\": a positive number is expected there");
  CHECK(unknown("strip 0") == "schedule: \"0\" in \"strip 0\": a positive number is expected there");
  CHECK(unknown("part") == "schedule: \"\" in \"part\": a positive number is expected there");
  CHECK(unknown("threads 32 64") == "schedule: \"64\" in \"threads 32 64\": the end of the line is expected there");
  CHECK(unknown("cooperative 32 4") == "schedule: \"4\" in \"cooperative 32 4\": \"items\" is expected there");
  CHECK(unknown("tile a:4 b:4") == "schedule: \"b:4\" in \"tile a:4 b:4\": the end of the line is expected there");
}

TEST_CASE("a stored schedule of a program is a list of directives") {
  const auto program = products();
  Schedule schedule;
  schedule.directives = parse_directives("order task a b; threads 32");
  const auto text = print(schedule);
  CHECK(text == "directives\norder task a b\nthreads 32\n");
  const auto read = kernel::parse_schedule(text);
  REQUIRE(read);
  CHECK(read->directives == schedule.directives);
  CHECK(launch_of(program, schedule, Target::cuda).tasks == 37 * 30);
  CHECK(launch_of(program, schedule, Target::cuda).tasks == build(program, schedule, Target::cuda).tasks());
  // A buffer of the program each, whether or not the tree is built.
  const std::vector<Argument> arguments = {{Argument::Kind::buffer, "A", DType::f64},
                                           {Argument::Kind::buffer, "B", DType::f64},
                                           {Argument::Kind::buffer, "C", DType::f64, true}};
  CHECK(launch_of(program, schedule, Target::cuda).arguments == arguments);
  CHECK(launch_of(build(program, schedule, Target::cuda)).arguments == arguments);
  // Fields of programs, as they were stored once, are read as nothing.
  CHECK_FALSE(
      kernel::parse_schedule("tile 8 4 1\norder b a k\nmapping b:4 a:8 vector 1 workers 32\n"
                             "register_tile 1 1 1 cooperative_threads 1\nthreads 32 origin literals\n"));
}

TEST_CASE("each rule of tiles and their order, broken once") {
  check_rules(
      products(), Target::cpu,
      {
          {"", "", "an order is missing"},
          {"tile c:4; order", "tile c:4", "no index of this program has that name"},
          {"tile a:4; tile a:8; order", "tile a:8", "this index has levels already"},
          {"tile k:4; order", "tile k:4", "this index is summed or scanned over by each worker alone"},
          {"tile a:38; order", "tile a:38", "a has 37 values"},
          {"tile a:8:3; order", "tile a:8:3", "8 is no multiple of 3"},
          {"order task a b; order task a b", "order task a b", "there is an order already"},
          {"lanes b 8; order task a b", "lanes b 8", "it comes after the order"},
          {"order task a b sum k", "order task a b sum k", "sums are loops of each worker alone"},
          {"order task a cluster b", "order task a cluster b",
           "the blocks of a cluster share the sums of an atom alone"},
          {"order task a last 3 sum b", "order task a last 3 sum b",
           "the blocks of a cluster share the sums of an atom alone"},
          {"order task a b k", "order task a b k", "k is summed or scanned over by each worker alone"},
          {"order task a thread b", "order task a thread b",
           "a CPU has no threads of a block: loops over a tile are serial"},
          {"order serial a task b", "order serial a task b", "tasks are the outermost loops"},
          {"order task a b a", "order task a b a", "a is named twice"},
          {"order task a c", "order task a c", "there is no loop c"},
          {"tile a:8:4; order task a0 a1 b", "order task a0 a1 b", "a0 and a1 are loops of one kind: let them be one"},
          {"tile a:8; order task a serial a0 b", "order task a serial a0 b", "a is no outermost loop of a"},
          {"tile a:8:4; order task a0 b serial a", "order task a0 b serial a",
           "a is a loop inside of what is in registers"},
          {"tile a:4; order task a0 b", "order task a0 b", "a is in no serial loop"},
          {"order task a b; stage A at b scratch a", "stage A at b scratch a",
           "programs with sums, scans or guards do not read at every point"},
          {"order task a b; skew a 4", "skew a 4", "it is for what only moves elements"},
          {"order task a b; pipeline a 2", "pipeline a 2", "it is for the products of an atom"},
          {"order task a b; threads 32", "threads 32", "a CPU has no threads of a block"},
      });
  auto long_rows = products();
  long_rows.indices[1].extent = 3000;
  check_rules(long_rows, Target::cpu, {{"order task a", "order task a", "b is in no loop"}});
  check_rules(long_rows, Target::cpu,
              {{"tile b:60; tile a:18; order serial a0 b0", "order serial a0 b0",
                "a worker has more than 1024 values in registers"}});
  auto wide = products();
  for (auto& buffer : wide.buffers) buffer.type = DType::c128;
  for (auto& node : wide.nodes) node.type = DType::c128;
  CHECK_THROWS_WITH(
      build_program(wide, parse_directives("tile a:34; tile b:29; order serial a0 b0"), Target::cpu),
      Catch::Matchers::ContainsSubstring("registers of a worker take 16784 bytes, and a caller's stack has 16384"));
  auto confused = products();
  confused.indices[1].name = "a0";
  check_rules(confused, Target::cpu, {{"tile a:4; order task a0", "tile a:4", "there is a loop a0 already"}});
}

TEST_CASE("each rule of threads, broken once") {
  check_rules(
      products(), Target::cuda,
      {
          {"order task a b", "", "the threads of a block are missing"},
          {"order task a serial b; threads 32", "order task a serial b", "a tile of a GPU is spread over threads"},
          {"tile b:16:4:2; order task a b0 thread b2; threads 32", "order task a b0 thread b2",
           "a thread has values on either side of b2"},
          {"order task a b; lanes b 2; threads 32", "lanes b 2", "lanes are of the vectors of a CPU"},
          {"order task a b; threads 32; threads 64", "threads 64", "the threads of a block are known already"},
          {"order task a b; threads 2048", "threads 2048", "a block has at most 1024 threads"},
          {"order thread a b; threads 1024", "threads 1024", "a tile has places for 1110 threads"},
          {"order task a b; cooperative 32; threads 32", "cooperative 32", "it comes after the threads of a block"},
          {"order task a b; threads 128; cooperative 64", "cooperative 64",
           "threads that cooperate are a warp, the block, or a half, a fourth ... of a warp"},
          {"order task a b; threads 32; cooperative 8", "cooperative 8",
           "parts of a warp have a point each: tiles divide their indices"},
          {"order task a b; threads 32; row k 1", "row k 1", "rows are of threads that cooperate"},
          {"order task a b; threads 48; cooperative 32", "cooperative 32", "48 threads are no whole groups of 32"},
          {"tile b:8; order task a b0 thread b; threads 128; cooperative 32", "cooperative 32",
           "a tile has places for 8 groups of threads"},
          {"order task a b; threads 32; cooperative 32 items 65", "cooperative 32 items 65",
           "a thread takes at most 64 items"},
          {"tile k:8; order task a b; threads 32; cooperative 32", "cooperative 32",
           "the tiles of the sum have places for 8 threads"},
          {"tile k:8; order task a b; threads 32", "", "no threads share the sum whose indices have tiles"},
          {"tile k:8:4; order task a b; threads 32", "tile k:8:4",
           "threads that share a sum are one level of its index"},
      });
}

TEST_CASE("each rule of lanes, strips and parts, broken once") {
  const std::string tile = "tile p:512:8; order task p0 serial p1; ";
  const auto row = [&](const std::string& more) { return tile + more; };
  const auto check = [&](const std::string& more, const char* directive, const char* rule) {
    check_rules(fields(), Target::cpu, {{row(more).c_str(), directive, rule}});
  };
  check("lanes p 8; lanes p 8", "lanes p 8", "there are lanes already");
  check("lanes q 8", "lanes q 8", "no index of this program has that name");
  check("lanes p 6", "lanes p 6", "vectors have a power of two of lanes");
  check("lanes p 16", "lanes p 16", "the order leaves 8 values of p");
  check("nontemporal", "nontemporal", "nontemporal stores are of vectors: there are no lanes");
  check("strip 64", "strip 64", "strips are made of lanes, of which there are none");
  check("lanes p 4; strip 64", "strip 64", "a point of a strip is one vector");
  check("lanes p 8; strip 60", "strip 60", "a strip is whole vectors of 8");
  check("lanes p 8; part 1; part 2", "part 1", "parts are computed strip by strip, and there is no strip");
  check("lanes p 8; strip 64; part 3", "part 3", "there is no statement 3");
  check("lanes p 8; strip 64; part 1", "part", "the parts of a strip hold every statement once");
  check("lanes p 8; strip 64; part 1; part 1 2", "part", "the parts of a strip hold every statement once");
  check("lanes p 8; strip 64; part 1; part 2", "part", "no part reads what an earlier one writes");
  check_rules(fields(DType::c64), Target::cpu,
              {{"tile p:8; order serial p0; lanes p 8", "lanes p 8",
                "lanes hold real numbers or integers, of operations that vectors have"}});
  check_rules(products(), Target::cpu,
              {{"tile b:8; order task a serial b0; lanes b 8; strip 8", "strip 8",
                "strips are of programs without sums and scans"},
               {"order task a b; lanes k 8", "lanes k 8", "lanes run along no sum or scan"}});
}

TEST_CASE("each rule of operands that points read across, broken once") {
  ir::Builder b;
  b.program.indices = {{"p", 40}, {"q", 50}};
  b.program.buffers = {{"x", DType::f64, false, 0, 1999, 64},
                       {"y", DType::f64, false, 0, 1999, 64},
                       {"z", DType::f64, true, 0, 1999, 64}};
  b.store(2, {{50, 1}, 0}, b.op(OpCode::mul, DType::f64, b.load(0, {{50, 1}, 0}), b.load(1, {{1, 40}, 0})));
  const auto turned = b.finish();
  const auto check = [&](const std::string& more, const char* directive, const char* rule) {
    const auto text = "tile p:8; tile q:16:8; order task p0 q0 serial p q1; " + more;
    check_rules(turned, Target::cpu, {{text.c_str(), directive, rule}});
  };
  check("stage y at q0 shared p q", "stage y at q0 shared p q",
        "what is computed point by point is staged on a CPU, in scratch");
  check("stage w at q0 scratch p q", "stage w at q0 scratch p q", "it is no operand");
  check("stage z at q0 scratch p q", "stage z at q0 scratch p q", "it is no operand");
  check("stage y at p0 scratch p q", "stage y at p0 scratch p q", "q0 is the loop around a tile");
  check("stage y at q0 scratch q", "stage y at q0 scratch q", "lanes are of the last one of two dimensions or more");
  check("lanes q 8; stage y at q0 scratch q p", "stage y at q0 scratch q p",
        "lanes are of the last one of two dimensions or more");
  check("stage x at q0 scratch p q", "stage x at q0 scratch p q", "all of it is read along the last dimension");
  check("lanes q 8; strip 8; stage y at q0 scratch p q", "stage y at q0 scratch p q",
        "strips have buffers of their own");
  check_rules(turned, Target::cpu,
              {{"order serial p q; stage y at q scratch p q", "stage y at q scratch p q", "there are no tiles"},
               {"tile q:16; order task p q0 serial q; stage y at q0 scratch p q", "stage y at q0 scratch p q",
                "p is a dimension, or it is none"}});
}

}  // namespace kernel_program_loops_test
