// Faults planted into copies by tensor maps, each found by name (kernel_faults.cpp), and the rules of the directive.
#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/build.hpp"
#include "kernel/schedule.hpp"
#include "kernel_places.hpp"
#include "lower/einsum.hpp"

namespace kernel_map_faults_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

ir::Program product(const char* spec, const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b,
                    const std::vector<std::int64_t>& c, DType type = DType::bf16, std::int64_t alignment = 256) {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse(spec);
  problem.inputs = {ricci::Layout::row_major(type, a), ricci::Layout::row_major(type, b)};
  problem.output = ricci::Layout::row_major(type == DType::bf16 ? DType::f32 : type, c);
  for (auto* layout : {&problem.inputs[0], &problem.inputs[1], &problem.output}) layout->alignment = alignment;
  return ir::canonicalise(ir::lower(problem));
}

Kernel built(const ir::Program& program, const std::string& directives) {
  return expand(build(program, *contraction_of(program), parse_directives(directives), Target::cuda));
}

/// C[a][c] = sum A[a][b] B[c][b]: one group, rows along the depth, eight rounds in three places.
Kernel groups() {
  return built(product("ab,cb->ac", {60, 488}, {16, 488}, {60, 16}),
               "tile a:64; tile b:64; order task a0 sum b0; stage A at b0 maps a b; stage B at b0 maps c b;"
               "atom wgmma_bf16 rows a columns c depth b warps 4x1 runs 1x1x2; pipeline b0 3");
}
/// The same with B copied by threads.
Kernel mixed() {
  return built(product("ab,cb->ac", {60, 488}, {16, 488}, {60, 16}),
               "tile a:64; tile b:64; order task a0 sum b0; stage A at b0 maps a b; stage B at b0 async c b;"
               "atom wgmma_bf16 rows a columns c depth b warps 4x1 runs 1x1x2; pipeline b0 3");
}
/// Tensor cores of a warp, whose first fragments are read a round ahead.
Kernel prefetched() {
  return built(product("ab,cb->ac", {64, 88}, {32, 88}, {64, 32}, DType::f64),
               "tile a:32; tile c:32; tile b:16; order task a0 sum b0; stage A at b0 maps a b pad 2;"
               "stage B at b0 maps c b pad 2; atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 1x1x2;"
               "pipeline b0 2 prefetch");
}

const Fault kFaults[] = {
    {"boxes that are not awaited", groups, [](Kernel& k) { drop<Await>(k); }, "A_tile is read before a wait for the"},
    {"boxes of the round before that are awaited", groups,
     [](Kernel& k) { get<Await>(k).parity = Affine(1) - get<Await>(k).parity; },
     "is accessed while an asynchronous copy to it is under way"},
    {"fewer bytes than come", groups, [](Kernel& k) { get<Expect>(k).bytes -= 16; },
     "16 bytes are copied that nobody expects"},
    {"more bytes than come", groups, [](Kernel& k) { get<Expect>(k).bytes += 16; },
     "16 bytes are expected that no copy brings"},
    {"counters that are not made ready", groups, [](Kernel& k) { drop<Counters>(k); }, "arrived is not made ready"},
    {"boxes by all threads", groups,
     [](Kernel& k) {
       const auto [body, n] = find<Expect>(k.body);
       auto copy = (*body)[n];
       const auto [loop, at] = find<Barrier>(k.body);
       loop->insert(loop->begin() + static_cast<std::ptrdiff_t>(at), std::move(copy));
     },
     "bytes are expected by several threads"},
    {"a place that is copied to before all have read it", groups, [](Kernel& k) { drop<Barrier>(k); },
     "is awaited with no barrier after it was made ready"},
    {"a stage of less than a box", groups, [](Kernel& k) { array_of(k, "A_tile").shape.front() -= 1024; },
     "may reach element"},
    {"boxes on top of each other", groups,
     [](Kernel& k) {
       auto& copy = get<BoxCopy>(k, [](const Statement& s) { return std::get<BoxCopy>(s.node).map == 1; });
       auto& first = get<BoxCopy>(k);
       copy.to = first.to;
     },
     "is accessed while an asynchronous copy to it is under way"},
    {"a box that begins anywhere", groups, [](Kernel& k) { get<BoxCopy>(k).to.index.front().constant += 32; },
     "where boxes begin"},
    {"a box of other rows", groups, [](Kernel& k) { array_of(k, "A_tile").swizzle = {}; },
     "has other rows than boxes of A_tile_map"},
    {"a coordinate too few", groups, [](Kernel& k) { get<BoxCopy>(k).at.pop_back(); }, "a box at 1 coordinates"},
    {"a tensor beyond its memory", groups, [](Kernel& k) { k.maps.front().dimensions.back().extent += 1; },
     "A_tile_map reaches elements 0 to"},
    {"a pointer that promises nothing", groups, [](Kernel& k) { array_of(k, "A").alignment = 2; },
     "is no map of an operand in 16-byte units"},
    {"boxes that are longer than hardware copies", groups,
     [](Kernel& k) { k.maps.front().dimensions.back().box = 257; }, "at most 256 are possible"},
    {"boxes ahead that are not awaited", prefetched, [](Kernel& k) { drop<Await>(k); },
     "is read before a wait for the copies to it"},
    {"copies of threads that are not waited for beside boxes", mixed, [](Kernel& k) { drop<Wait>(k); },
     "B_tile is read before a wait for the copies to it"},
};

std::string refused(const ir::Program& program, const std::string& stage) {
  try {
    built(program, "tile a:64; tile b:64; order task a0 sum b0;" + stage +
                       "stage B at b0 async c b; atom wgmma_bf16 rows a columns c depth b warps 4x1 runs 1x1x2;"
                       "pipeline b0 3");
  } catch (const PlanError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("copies by tensor maps without a fault pass") { check_sound({groups, mixed, prefetched}); }

TEST_CASE("faults planted into copies by tensor maps are found by name") { check_faults(kFaults); }

TEST_CASE("tensor maps name the rule that an operand breaks") {
  using Catch::Matchers::ContainsSubstring;
  const auto maps = "stage A at b0 maps a b;";
  CHECK(refused(product("ab,cb->ac", {60, 488}, {16, 488}, {60, 16}), maps) == "none");
  CHECK_THAT(refused(product("ab,cb->ac", {60, 484}, {16, 484}, {60, 16}), maps),
             ContainsSubstring("stage A at b0 maps a b: a stride of 968 bytes, which is no multiple of 16"));
  CHECK_THAT(refused(product("ab,cb->ac", {60, 488}, {16, 488}, {60, 16}, DType::bf16, 8), maps),
             ContainsSubstring("A begins at a multiple of 8 bytes, and tensor maps need 16"));
  const auto f64 = product("ab,cb->ac", {64, 88}, {32, 88}, {64, 32}, DType::f64);
  const auto staged = [&](const std::string& a, const std::string& pipeline) {
    try {
      built(f64, "tile a:32; tile c:32; tile b:16; order task a0 sum b0;" + a +
                     "stage B at b0 async c b pad 2; atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 1x1x2;" +
                     pipeline);
    } catch (const PlanError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(staged("stage A at b0 maps a b pad 2;", "pipeline b0 3") == "none");
  CHECK_THAT(staged("stage A at b0 maps b a;", "pipeline b0 3"),
             ContainsSubstring("neighbours of A in memory are none in the tile"));
  CHECK_THAT(staged("stage A at b0 maps a b pad 1;", "pipeline b0 3"), ContainsSubstring("rows of 136 bytes"));
  CHECK_THAT(staged("stage A at b0 maps a b pad 2;", ""), ContainsSubstring("by tensor maps in a pipeline"));
  const auto directives = parse_directives("stage A at b0 maps a b");
  CHECK_NOTHROW(check_capability(directives, 90));
  CHECK_THROWS_WITH(check_capability(directives, 80),
                    ContainsSubstring("tensor maps are known from sm_90 on, and this is for sm_80"));
}

TEST_CASE("what parts rows is outside of a dimension where tiles divide it") {
  const auto kernel = built(product("ab,cb->ac", {64, 96}, {32, 96}, {64, 32}, DType::f64),
                            "tile a:32; tile c:32; tile b:16; order task a0 sum b0; stage A at b0 maps a b pad 2;"
                            "stage B at b0 async c b pad 2; atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs "
                            "1x1x2; pipeline b0 3");
  REQUIRE(kernel.maps.size() == 1);
  const std::vector<TensorMap::Dimension> expected = {{16, 1, 18}, {64, 96, 32}, {6, 16, 1}};
  CHECK(kernel.maps.front().dimensions == expected);
}

}  // namespace kernel_map_faults_test
