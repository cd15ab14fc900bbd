// Faults planted into products of warp groups, each found by name (kernel_faults.cpp).
#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/build.hpp"
#include "kernel_places.hpp"
#include "lower/einsum.hpp"

namespace kernel_warp_group_faults_test {

using namespace ricci;
using namespace ricci::kernel;
using kernel::Access;

namespace {

/// C[a][c] = sum A[a][b] B[c][b]: one group, rows along the depth, four rounds in three places.
Kernel groups_by(const std::string& atom) {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("ab,cb->ac");
  problem.inputs = {ricci::Layout::row_major(DType::bf16, {60, 256}), ricci::Layout::row_major(DType::bf16, {16, 256})};
  problem.output = ricci::Layout::row_major(DType::f32, {60, 16});
  for (auto* layout : {&problem.inputs[0], &problem.inputs[1], &problem.output}) layout->alignment = 256;
  const auto program = ir::canonicalise(ir::lower(problem));
  const auto directives =
      "tile a:64; tile b:64; order task a0 sum b0; stage A at b0 async a b; stage B at b0 async c b;"
      "atom " +
      atom + " rows a columns c depth b warps 4x1 runs 1x1x2; pipeline b0 3";
  return expand(build(program, *contraction_of(program), parse_directives(directives), Target::cuda));
}

Kernel groups() { return groups_by("wgmma_bf16"); }
/// The same with A from registers.
Kernel groups_held() { return groups_by("wgmma_rs_bf16"); }

/// The same of f32 in tf32: A is rounded in memory, B when it is staged.
Kernel groups_tf32_of(const char* spec, const char* stage_b, const std::string& atom = "wgmma_tf32") {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse(spec);
  const bool deep = std::string(spec) == "ab,cb->ac";
  problem.inputs = {ricci::Layout::row_major(DType::f32, {60, 128}),
                    ricci::Layout::row_major(
                        DType::f32, deep ? std::vector<std::int64_t>{16, 128} : std::vector<std::int64_t>{128, 16})};
  problem.output = ricci::Layout::row_major(DType::f32, {60, 16});
  for (auto* layout : {&problem.inputs[0], &problem.inputs[1], &problem.output}) layout->alignment = 256;
  auto program = ir::canonicalise(ir::lower(problem));
  program.precision = Precision::tf32;
  program.buffers.front().tf32 = true;
  const auto directives = std::string("tile a:64; tile b:32; order task a0 sum b0; stage A at b0 async a b;") +
                          stage_b + "atom " + atom + " rows a columns c depth b warps 4x1 runs 1x1x1; pipeline b0 3";
  return expand(build(program, *contraction_of(program), parse_directives(directives), Target::cuda));
}
Kernel groups_tf32() { return groups_tf32_of("ab,cb->ac", "stage B at b0 shared c b;"); }
/// A is rounded in registers.
Kernel groups_tf32_held() { return groups_tf32_of("ab,cb->ac", "stage B at b0 shared c b;", "wgmma_rs_tf32"); }

bool of_products(const Statement& s) {
  if (const auto* commit = std::get_if<Commit>(&s.node)) return commit->products;
  if (const auto* fence = std::get_if<Fence>(&s.node)) return fence->registers >= 0;
  const auto* wait = std::get_if<Wait>(&s.node);
  return wait != nullptr && wait->sums >= 0;
}
bool of_memory(const Statement& s) { return !of_products(s); }
/// Of what registers hold of A, in the first step of a round.
bool of_fragment(const Kernel& k, const Statement& s) {
  const auto* fence = std::get_if<Fence>(&s.node);
  return fence != nullptr && fence->registers >= 0 && k.array(fence->registers).name == "a_step0";
}
bool last_wait(const Statement& s) { return of_products(s) && std::get<Wait>(s.node).groups == 0; }

const Fault kFaults[] = {
    {"sums that are not waited for", groups, [](Kernel& k) { drop<Wait>(k, last_wait); },
     "is read while products to it are under way"},
    {"a group of products that is not closed", groups, [](Kernel& k) { drop<Commit>(k, of_products); },
     "is written while a product of a warp group reads it"},
    {"copies to what products still read", groups, [](Kernel& k) { ++get<Wait>(k, of_products).groups; },
     "is written while a product of a warp group reads it"},
    {"sums that are written with no fence before products", groups, [](Kernel& k) { drop<Fence>(k, of_products); },
     "with no fence between"},
    {"operands that are written with no fence before products", groups, [](Kernel& k) { drop<Fence>(k, of_memory); },
     "by a warp group with no fence after"},
    {"a fence behind the barrier", groups,
     [](Kernel& k) {
       const auto [body, n] = find<Fence>(k.body, of_memory);
       REQUIRE(std::holds_alternative<Barrier>((*body)[n + 1].node));
       std::swap((*body)[n], (*body)[n + 1]);
     },
     "by a warp group with no fence after"},
    {"sums that are written while products are under way", groups,
     [](Kernel& k) {
       const auto [body, n] = find<GroupMma>(k.body);
       const auto sum = std::get<GroupMma>((*body)[n].node).d.array;
       Value nothing;
       nothing.type = DType::f32;
       body->insert(body->begin() + static_cast<std::ptrdiff_t>(n) + 1,
                    {Store{{sum, {Affine(0), Affine(0), Affine(0)}}, nothing}});
     },
     "is written while products to it are under way", true},
    {"fragments that are written with no fence before products", groups_held,
     [](Kernel& k) { drop<Fence>(k, [&](const Statement& s) { return of_fragment(k, s); }); },
     "a_step0 is written, and multiplied by a warp group with no fence between"},
    {"fragments that are read while products still read the last ones", groups_held,
     [](Kernel& k) { ++get<Wait>(k, of_products).groups; },
     "a_step0 is accessed while a product of a warp group reads it"},
    {"products of a step that are no group of their own", groups_held, [](Kernel& k) { drop<Commit>(k, of_products); },
     "is accessed while a product of a warp group reads it"},
    {"fragments of the same registers in two steps", groups_held,
     [](Kernel& k) {
       const auto first = std::get<Access>(get<GroupMma>(k).a).array;
       const auto [body, n] = find<GroupMma>(k.body);
       body->insert(body->begin() + static_cast<std::ptrdiff_t>(n) + 1,
                    {MatrixLoad{{first, {Affine(0), Affine(0)}, 2}, get<MatrixLoad>(k).from}});
     },
     "a_step0 is accessed while a product of a warp group reads it", true},
    {"fragments of another atom", groups_held, [](Kernel& k) { get<GroupMma>(k).atom = "wgmma_rs_f16"; },
     "is of type bf16, and wgmma_rs_f16 takes f16"},
    {"fragments for an atom that reads memory", groups_held, [](Kernel& k) { get<GroupMma>(k).atom = "wgmma_bf16"; },
     "wgmma_bf16 takes its first operand from memory"},
    {"memory for an atom that reads registers", groups, [](Kernel& k) { get<GroupMma>(k).atom = "wgmma_rs_bf16"; },
     "wgmma_rs_bf16 takes its first operand from registers"},
    {"fragments that nothing rounds to tf32", groups_tf32_held, [](Kernel& k) { array_of(k, "a_step0").tf32 = false; },
     "a_step0 is not rounded to tf32, and a warp group cuts off the rest"},
    {"fragments of any bits that are stored as tf32", groups_tf32_held,
     [](Kernel& k) {
       auto& value = get<Store>(k, store_to(k, "a_step0")).value;
       value = Value(value.operands.front());
       array_of(k, "A_tile").tf32 = false;
     },
     "what is no tf32 goes to a_step0"},
    {"rows without a swizzle", groups, [](Kernel& k) { array_of(k, "A_tile").swizzle = {}; },
     "has no rows that a warp group reads"},
    {"a swizzle of other bits", groups, [](Kernel& k) { array_of(k, "A_tile").swizzle = {7, 7, 3}; },
     "has no rows that a warp group reads"},
    {"an operand that swizzles do not begin with", groups, [](Kernel& k) { array_of(k, "B_tile").alignment = 128; },
     "has no rows that a warp group reads"},
    {"blocks that are no eight rows apart", groups,
     [](Kernel& k) { std::get<SharedMatrix>(get<GroupMma>(k).a).stride += 64; }, "elements apart, in rows of 64"},
    {"a start in the second row of a block", groups,
     [](Kernel& k) { get<GroupMma>(k).b.start.index.front().constant += 64; }, "starts inside of a block"},
    {"an operand past its end", groups, [](Kernel& k) { array_of(k, "B_tile").shape.front() /= 2; },
     "may reach element"},
    {"an operand of another type", groups, [](Kernel& k) { get<GroupMma>(k).atom = "wgmma_f16"; },
     "is no f16 in shared memory"},
    {"an atom of one warp", groups, [](Kernel& k) { get<GroupMma>(k).atom = "m16n8k16_bf16"; },
     "there is no atom m16n8k16_bf16 of a warp group"},
    {"sums of another atom", groups, [](Kernel& k) { get<GroupMma>(k).d.index.clear(); },
     "is no accumulator of wgmma_bf16"},
    {"a product that some warps do not reach", groups,
     [](Kernel& k) { guard<GroupMma>(k, {Affine::of(var_of(k, "warp_row")), 3}); },
     "an instruction of a warp group where not all threads"},
    {"an operand that nothing rounds to tf32", groups_tf32, [](Kernel& k) { array_of(k, "A_tile").tf32 = false; },
     "is not rounded to tf32, and a warp group cuts off the rest"},
    {"numbers of any bits that are copied as tf32", groups_tf32, [](Kernel& k) { array_of(k, "A").tf32 = false; },
     "what is no tf32 goes to A_tile"},
    {"numbers of any bits that are stored as tf32", groups_tf32,
     [](Kernel& k) {
       for (auto& lane : get<Store>(k, store_to(k, "B_tile")).value.operands) lane = Value(lane.operands.front());
     },
     "what is no tf32 goes to B_tile"},
    {"warps of a group that multiply different matrices", groups,
     [](Kernel& k) {
       array_of(k, "A_tile").shape.front() += 4096;
       auto& start = std::get<SharedMatrix>(get<GroupMma>(k).a).start.index.front();
       start = start + Affine::of(var_of(k, "warp_row"), 512);
     },
     "threads of a warp group multiply different matrices"},
};

}  // namespace

TEST_CASE("products of warp groups without a fault pass") {
  check_sound({groups, groups_tf32, groups_held, groups_tf32_held});
}

TEST_CASE("faults planted into products of warp groups are found by name") { check_faults(kFaults); }

TEST_CASE("warp groups read tf32 along the depth alone") {
  CHECK_THROWS_WITH(groups_tf32_of("ab,bc->ac", "stage B at b0 shared b c;"),
                    Catch::Matchers::ContainsSubstring("reads rows of f32 along the depth alone"));
}

TEST_CASE("warp groups multiply bytes along the depth by instructions that there are") {
  const auto groups_of_bytes = [](const char* spec, std::int64_t columns) {
    ir::EinsumProblem problem;
    problem.spec = Spec::parse(spec);
    const bool deep = std::string(spec) == "ab,cb->ac";
    const std::vector<std::int64_t> shape = {deep ? columns : 128, deep ? 128 : columns};
    problem.inputs = {ricci::Layout::row_major(DType::i8, {60, 128}), ricci::Layout::row_major(DType::i8, shape)};
    problem.output = ricci::Layout::row_major(DType::i32, {60, columns});
    for (auto* layout : {&problem.inputs[0], &problem.inputs[1], &problem.output}) layout->alignment = 256;
    const auto program = ir::canonicalise(ir::lower(problem));
    const auto directives = std::string("tile a:64; tile b:64; order task a0 sum b0; stage A at b0 async a b;") +
                            "stage B at b0 async " + (deep ? "c b" : "b c") +
                            "; atom wgmma_i8 rows a columns c depth b warps 4x1 runs 1x1x4; pipeline b0 2";
    return expand(build(program, *contraction_of(program), parse_directives(directives), Target::cuda));
  };
  for (const std::int64_t columns : {24, 32, 48}) CHECK_NOTHROW(groups_of_bytes("ab,cb->ac", columns));
  CHECK_THROWS_WITH(groups_of_bytes("ab,cb->ac", 40),
                    Catch::Matchers::ContainsSubstring("wgmma_i8 has no instruction of 40 columns"));
  CHECK_THROWS_WITH(groups_of_bytes("ab,bc->ac", 64),
                    Catch::Matchers::ContainsSubstring("reads rows of i8 along the depth alone"));
}

TEST_CASE("the warps of a group hold every element of an atom's fragments once") {
  for (const auto& atom : kGroupAtoms) CHECK_NOTHROW(verify(atom));
}

}  // namespace kernel_warp_group_faults_test
