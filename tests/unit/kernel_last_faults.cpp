// Faults planted into kernels whose last tiles have their sums in parts.
#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/build.hpp"
#include "kernel/expand.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel_places.hpp"
#include "lower/einsum.hpp"

namespace kernel_last_faults_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

/// 9 tiles: six of one block each, and three whose sums two blocks share, six rounds each of twelve.
Kernel tiles() {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("ab,bc->ac");
  problem.inputs = {ricci::Layout::row_major(DType::f64, {40, 96}), ricci::Layout::row_major(DType::f64, {96, 48})};
  problem.output = ricci::Layout::row_major(DType::f64, {40, 48});
  for (auto* layout : {&problem.inputs[0], &problem.inputs[1], &problem.output}) layout->alignment = 256;
  const auto program = ir::canonicalise(ir::lower(problem));
  return build(program, *contraction_of(program),
               parse_directives("tile a:16; tile b:48:8; tile c:16; order task a0 c0 cluster b0 last 3 sum b1;"
                                "stage A at b1 async a b pad 4; stage B at b1 async b c pad 4;"
                                "atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 1x1x1; pipeline b1 3"),
               Target::cuda);
}
Kernel expanded() { return expand(tiles()); }

Let& named(Kernel& kernel, const std::string& name) {
  return get<Let>(kernel, [&](const Statement& s) { return std::get<Let>(s.node).var == var_of(kernel, name); });
}
Loop& rounds(Kernel& kernel) {
  return get<Loop>(kernel, [](const Statement& s) { return !std::get<Loop>(s.node).when.empty(); });
}
bool in_parts(const Statement& s) { return std::get<Flush>(s.node).parts >= 0; }

const Fault kFaults[] = {
    {"tiles of one block each that go on", tiles, [](Kernel& k) { ++named(k, "alone").most; },
     "alone may be 7, above 6"},
    {"parts that no block has", tiles, [](Kernel& k) { named(k, "b0").modulus = 3; }, "b0 may be above 1"},
    {"a tile that all blocks of a cluster have", tiles,
     [](Kernel& k) {
       const auto rank = var_of(k, "rank");
       for (const auto* name : {"alone", "left"}) named(k, name).of = named(k, name).of.with(rank, Affine(0));
     },
     "tasks along rank write the same elements of C"},
    {"a part of a sum that leaves as the whole", tiles, [](Kernel& k) { get<Flush>(k, in_parts).parts = -1; },
     "is accessed by task 11 and others, and written by one of them"},
    {"parts of what no cluster shares", tiles, [](Kernel& k) { get<Flush>(k, in_parts).parts = var_of(k, "cluster"); },
     "cluster is no cluster"},
    {"blocks of a cluster that part", expanded,
     [](Kernel& k) { named(k, "in_parts").of = Affine::of(var_of(k, "rank")); },
     "a barrier of a cluster where not all of its blocks pass"},
    {"a part that goes on behind the sum", tiles, [](Kernel& k) { rounds(k).when.pop_back(); }, "may reach element"},
    {"a copy of a round behind the sum", expanded,
     [](Kernel& k) {
       get<If>(k, [&](const Statement& s) { return std::get<If>(s.node).when.size() == 2; }).when.pop_back();
     },
     "may reach element"},
};

}  // namespace

TEST_CASE("faults planted into sums of the last tiles are found by name") {
  check_sound({tiles, expanded});
  check_faults(kFaults);
}

}  // namespace kernel_last_faults_test
