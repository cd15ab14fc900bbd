// Faults planted into kernels that move elements, each found by name: by verify() from the tree alone, or by
// check_elements() where every element has to be followed.
#include <algorithm>

#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/permute/build_permute.hpp"
#include "kernel/permute/moves.hpp"
#include "kernel/print.hpp"
#include "kernel_places.hpp"
#include "lower/einsum.hpp"

namespace kernel_permute_faults_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

/// A permutation of a dense row-major tensor.
Kernel built(const char* spec, std::vector<std::int64_t> extents, DType type, const char* schedule) {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse(spec);
  auto input = ricci::Layout::row_major(type, extents);
  problem.output = ir::permuted_row_major(problem.spec, input);
  input.alignment = problem.output.alignment = 32;
  problem.inputs = {input};
  const auto program = ir::canonicalise(ir::lower(problem));
  return build_permute(program, moves_of(program, parse_directives(schedule)));
}

/// Ragged along both, in shared memory; positions are no whole rounds.
Kernel ragged() {
  return built("abc->cba", {9, 7, 41}, DType::u32,
               "tile c:16; order task c0; stage A shared c:16 b:7 a:9; layout c:1 b:16 a:113 elements 1017;"
               " write a:9 b:7 c:16; threads 256");
}
/// Tiles cut where the output's sectors begin.
Kernel skewed() {
  return built("ab->ba", {67, 41}, DType::u64,
               "tile b:32; tile a:32; order task b0 a0; stage A shared b:32 a:35; layout b:1 a:33 elements 1155;"
               " write a:32 b:32 vector 2; skew a 4; threads 128");
}
/// Vectors on both sides of a swizzled array, a rectangle transposed in registers.
Kernel swizzled() {
  return built("ab->ba", {128, 128}, DType::u32,
               "tile b:64; tile a:64; order task b0 a0; stage A shared b:64 a:4 a:16/4 vector 4 rows 4;"
               " layout b:64 a:1 elements 4096 swizzle 8 7 2; write a:64 b:64 vector 4; threads 256");
}
/// A tile for each warp, exchanged by shuffles; the last block has warps without one.
Kernel exchanged() {
  return built("ab->ba", {300, 8}, DType::u32,
               "tile a:32; order task a0; stage A registers b:8 a:32 vector 4; write a:32 b:8 vector 4 workers 32;"
               " threads 256");
}
/// The same in blocks of two warps to a tile, which each exchange what they have, round by round.
Kernel within_warps() {
  return built(
      "abc->acb", {21, 4, 16}, DType::u32,
      "tile a:8; order task a0; stage A registers c:16 b:4 a:8 vector 2; write b:4 c:16 a:8 vector 2 workers 64;"
      " threads 128");
}
/// Each thread has what it writes, half of the lanes in another register than the others.
Kernel within_threads() {
  return built("ab->ba", {48, 3}, DType::u32, "order; stage A registers a:48 b:3; write a:16 b:3 a:3/16; threads 32");
}
/// Between warps, through odd rows of shared memory.
Kernel between_warps() {
  return built("ab->ba", {40, 24}, DType::u64,
               "tile a:32; order task a0; stage A registers b:24 a:32 vector 2; write a:32 b:24; threads 128");
}
/// The origin found by shuffles.
Kernel shuffled() {
  return built("abcde->ebdac", {3, 4, 14, 5, 33}, DType::u64,
               "tile e:16; order task b d a e0; stage A shared e:16 c:14; layout e:1 c:17 elements 238;"
               " write c:14 e:16; origin shuffle; threads 128");
}
/// Elements of 16 bytes.
Kernel wide_elements() {
  return built("ab->ba", {64, 64}, DType::c128,
               "tile b:32; tile a:32; order task b0 a0; stage A shared b:32 a:32; layout b:1 a:33 elements 1056;"
               " write a:32 b:32; threads 256");
}

Place of_array(const Kernel& kernel, const std::string& name) {
  return [&kernel, name](const Statement& s) { return kernel.array(std::get<Advance>(s.node).array).name == name; };
}
bool shuffles(const Statement& s) { return std::get<Store>(s.node).value.kind == Value::Kind::shuffle; }
Let& let_of(Kernel& kernel, const std::string& name) {
  return get<Let>(kernel, [&](const Statement& s) {
    return kernel.vars[static_cast<std::size_t>(std::get<Let>(s.node).var)].name == name;
  });
}

const Fault kFaults[] = {
    // ---- bounds
    {"a ragged tile read whole", ragged, [](Kernel& k) { get<If>(k).when.clear(); }, "may reach element"},
    {"positions past the tile", ragged, [](Kernel& k) { get<If>(k).when.erase(get<If>(k).when.begin()); },
     "may reach element"},
    {"a skewed tile read from before the first row", skewed,
     [](Kernel& k) {
       auto& when = get<If>(k).when;
       std::erase_if(when, [](const Condition& c) { return c.below < 0; });
     },
     "before the first one"},
    {"a skewed tile read past the last row", skewed, [](Kernel& k) { get<If>(k).when.pop_back(); },
     "may reach element"},
    {"an origin that is too far on", skewed, [](Kernel& k) { get<Advance>(k, of_array(k, "A")).by.constant += 41; },
     "may reach element"},
    {"a tile's shared array that is too small", ragged, [](Kernel& k) { array_of(k, "tile").shape.front() = 1000; },
     "may reach element"},
    {"a swizzled array that ends in the middle of a group", swizzled,
     [](Kernel& k) { array_of(k, "tile").shape.front() -= 4; }, "may reach element"},
    {"warps without a tile", exchanged,
     [](Kernel& k) {
       const auto [body, n] = find<If>(k.body);
       auto then = std::move(std::get<If>((*body)[n].node).then);
       body->pop_back();
       for (auto& statement : then) body->push_back(std::move(statement));
     },
     "may be above"},
    {"a digit of more values than its name", ragged,
     [](Kernel& k) { --k.vars[static_cast<std::size_t>(let_of(k, "c").var)].extent; }, "may be above"},
    {"a lane of a vector that it has not", swizzled,
     [](Kernel& k) { get<Store>(k, store_to(k, "column")).to.lane->constant = 1; }, "lane r + 1 of 4"},
    // ---- order
    {"no barrier between reading and writing", ragged, [](Kernel& k) { drop<Barrier>(k); },
     "with no barrier after what is written to it"},
    {"no barrier between warps", between_warps, [](Kernel& k) { drop<Barrier>(k); },
     "with no barrier after what is written to it"},
    {"registers before their declaration", ragged, [](Kernel& k) { drop<Declare>(k); }, "where it is not declared"},
    {"a name after the end of its section", ragged,
     [](Kernel& k) {
       auto store = get<Store>(k, store_to(k, "B"));
       const auto [body, n] = find<Section>(k.body);
       body->push_back({std::move(store)});
     },
     "names what is not known there", true},
    {"two threads at one place of the shared array", ragged,
     [](Kernel& k) {
       auto& to = get<Store>(k, store_to(k, "tile")).to.index.front();
       scale(to, let_of(k, "b").var, 8);
     },
     "with no barrier between"},
    {"elements that no thread has loaded", skewed, [](Kernel& k) { get<If>(k).when.front().below = 400; },
     "that nothing has written"},
    // ---- arrays that are advanced
    {"tiles that write one place", ragged, [](Kernel& k) { drop<Advance>(k, of_array(k, "B")); },
     "write the same elements of B"},
    {"an array advanced in a loop", ragged,
     [](Kernel& k) {
       auto& loop = get<Loop>(k, [](const Statement& s) { return std::get<Loop>(s.node).bind == Bind::unroll; });
       loop.body.insert(loop.body.begin(), {Advance{0, 1}});
     },
     "is advanced in a loop", true},
    {"an array that is accessed after the section that advanced it", ragged,
     [](Kernel& k) {
       auto& section = get<Section>(k);
       section.body.insert(section.body.begin(), {Advance{1, 0}});
     },
     "after the body in which it is advanced"},
    {"a shared array that is advanced", ragged, [](Kernel& k) { get<Advance>(k).array = 2; }, "is not of the caller"},
    {"an origin by what no lane has", shuffled,
     [](Kernel& k) {
       auto& by = get<AdvanceByLanes>(k).moves.front().by;
       by = by + Affine::of(var_of(k, "block"));
     },
     "is no digit that a lane has"},
    {"digits of two numbers", shuffled, [](Kernel& k) { get<AdvanceByLanes>(k).digits.push_back(var_of(k, "block")); },
     "are not of one number"},
    {"an origin found by half a warp", shuffled,
     [](Kernel& k) { guard<AdvanceByLanes>(k, {Affine::of(var_of(k, "t")), 16}); },
     "shuffles of a warp where not all lanes"},
    // ---- lanes
    {"a shuffle that some lanes do not reach", exchanged,
     [](Kernel& k) { guard<Store>(k, {Affine::of(var_of(k, "t")), 31}, shuffles); },
     "a shuffle where not all lanes of a warp pass"},
    {"a shuffle from lane 32", exchanged, [](Kernel& k) { get<Store>(k, shuffles).value.affine.constant = 1; },
     "of a warp"},
    {"shuffles in a block of broken warps", shuffled,
     [](Kernel& k) { k.vars[static_cast<std::size_t>(var_of(k, "t"))].extent = k.threads = 100; },
     "which are no whole warps"},
    {"loops over other threads than the block has", exchanged, [](Kernel& k) { k.threads = 128; },
     "a loop over 256 threads in a block of 128"},
    // ---- layouts
    {"a swizzle that is no bijection", swizzled, [](Kernel& k) { array_of(k, "tile").swizzle.shift = 4; },
     "is no bijection"},
    {"a swizzle of a mask with gaps", swizzled, [](Kernel& k) { array_of(k, "tile").swizzle.mask = 5; },
     "is no bijection"},
    {"a swizzle that breaks vectors", swizzled, [](Kernel& k) { array_of(k, "tile").swizzle.unit = 1; },
     "is not aligned"},
    {"a swizzle of a tensor", swizzled, [](Kernel& k) { array_of(k, "A").swizzle = {8, 7, 2}; }, "is not shared", true},
    {"rows of vectors at odd places", swizzled,
     [](Kernel& k) { scale(get<Store>(k, store_to(k, "tile")).to.index.front(), var_of(k, "v"), 62); },
     "is not aligned"},
    {"vectors of rows whose phase is not taken off", skewed, [](Kernel& k) { let_of(k, "phase").modulus = 1; },
     "is not aligned"},
    {"elements of 16 bytes at multiples of 8", wide_elements, [](Kernel& k) { array_of(k, "A").alignment = 8; },
     "is not aligned"},
    {"one instruction for an element of 4 bytes", ragged,
     [](Kernel& k) { get<Store>(k, store_to(k, "B")).to.whole = true; }, "is no single element of 16 bytes"},
};

}  // namespace

TEST_CASE("kernels that move elements without a fault pass") {
  check_sound(
      {ragged, skewed, swizzled, exchanged, within_warps, within_threads, between_warps, shuffled, wide_elements});
}

TEST_CASE("a tile in registers goes to those that write it the way that both orders need") {
  const auto shuffles_in = [](Kernel kernel) {
    int count = 0;
    while (find<Store>(kernel.body, shuffles).first != nullptr) drop<Store>(kernel, shuffles), ++count;
    return count;
  };
  const auto shared = [](const Kernel& kernel) {
    return std::any_of(kernel.arrays.begin(), kernel.arrays.end(),
                       [](const Array& array) { return array.space == Space::shared; });
  };
  CHECK(shuffles_in(exchanged()) == 1);
  CHECK(shuffles_in(within_warps()) == 8);
  CHECK(shuffles_in(within_threads()) == 0);
  CHECK(shuffles_in(between_warps()) == 0);
  CHECK_FALSE(shared(within_warps()));
  CHECK_FALSE(shared(within_threads()));
  CHECK(shared(between_warps()));
}

TEST_CASE("faults planted into kernels that move elements are found by name") { check_faults(kFaults); }

TEST_CASE("a fault in what moves elements names the directive that made it") {
  const auto named = [](Kernel kernel, void (*plant)(Kernel& kernel), const char* directive) {
    plant(kernel);
    const auto text = found(kernel);
    INFO(text);
    CHECK(text.find(std::string("made by \"") + directive) != std::string::npos);
  };
  const auto short_array = [](Kernel& k) { array_of(k, "tile").shape.front() = 1000; };
  const auto swizzle = [](Kernel& k) { array_of(k, "tile").swizzle.shift = 4; };
  const auto unguarded = [](Kernel& k) { get<If>(k).when.clear(); };
  const auto far_origin = [](Kernel& k) { get<Let>(k).modulus = 0; };
  const auto unread = [](Kernel& k) { drop<Barrier>(k); };
  named(ragged(), unguarded, "stage A shared");
  named(ragged(), short_array, "stage A shared");
  named(ragged(), unread, "write a:9");
  named(swizzled(), swizzle, "layout b:64 a:1");
  named(swizzled(), far_origin, "order task b0 a0");
  named(shuffled(), [](Kernel& k) { get<AdvanceByLanes>(k).digits.push_back(var_of(k, "block")); }, "origin shuffle");
}

}  // namespace kernel_permute_faults_test
