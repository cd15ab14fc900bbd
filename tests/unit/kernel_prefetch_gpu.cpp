// What results on a GPU are added to, fetched into the second cache run by run before a block multiplies.
#include <string>
#include <vector>

#include "catch.hpp"
#include "codegen/source.hpp"
#include "contraction_program.hpp"
#include "kernel/build.hpp"
#include "kernel/print.hpp"
#include "kernel_places.hpp"
#include "plan/enumerate/contraction.hpp"
#include "ricci/error.hpp"

namespace kernel_prefetch_gpu_test {

using namespace ricci;
using namespace ricci::kernel;

namespace {

/// C[b][d][c][e] += sum A[a][b][c] B[a][d][e], of 24 values of c and of `e`.
ir::Program added(std::int64_t depth = 24, double beta = 1, std::int64_t b = 12, std::int64_t d = 7,
                  std::int64_t e = 24) {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("abc,ade->bdce");
  problem.inputs = {ricci::Layout::row_major(DType::f32, {depth, b, 24}),
                    ricci::Layout::row_major(DType::f32, {depth, d, e})};
  problem.output = ricci::Layout::row_major(DType::f32, {b, d, 24, e});
  problem.beta = ir::factor_of(beta);
  return ir::canonicalise(ir::lower(problem));
}

/// Tiles of 2 x 24 rows, 5 x 24 columns: of d the last one is a part.
const std::string kTiles = "tile b:4:2; tile d:5; order task b0 d0 serial b1;";
const std::string kRest =
    "stage A at b1 async a b c; stage B at d0 async a d e;"
    "atom fma rows b c columns d e depth a warps 1x4 runs 2x4x1; pipeline b1 2;";

Kernel built(const ir::Program& program, const std::string& directives) {
  return expand(build(program, *contraction_of(program), parse_directives(directives), Target::cuda));
}

}  // namespace

TEST_CASE("blocks fetch the runs of the result that they add to") {
  const auto program = added();
  auto kernel = built(program, kTiles + kRest + "prefetch");
  CHECK(found(kernel).empty());
  const auto& run = get<Prefetch>(kernel);
  CHECK(run.count == 24 * 24);  // along c and e; of d each by itself, as the last tile has fewer
  const auto text = print(kernel);
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("prefetch 576 of C["));
  const auto source =
      codegen::emit(program, {"", parse_directives(kTiles + kRest + "prefetch")}, Target::cuda, {"sm_90", "", ""});
  CHECK_THAT(source.text, Catch::Matchers::ContainsSubstring("prefetch_run<2304>(C + "));
  CHECK_THAT(source.text, Catch::Matchers::ContainsSubstring("if (t < 10 && 5 * d0 + d_run < 7)"));
}

TEST_CASE("plans have that where results are read and sums are short") {
  const auto device = plan::GpuModel::of_capability(90);
  const auto fetches = [&](const ir::Program& program) {
    const auto text = print(plan::best_contraction(program, device)->whole().schedule.directives);
    return text.find("\nprefetch\n") != std::string::npos;
  };
  const std::int64_t many = 576;
  CHECK(fetches(added(24, 1, many, many)));
  CHECK_FALSE(fetches(added(24, 0, many, many)));
  CHECK_FALSE(fetches(added(512, 1, many, many)));  // the products take longer
}

TEST_CASE("rules of runs that are fetched") {
  const auto said = [&](const ir::Program& program, const std::string& directives) -> std::string {
    try {
      built(program, directives);
    } catch (const PlanError& error) {
      return error.what();
    }
    return {};
  };
  using Catch::Matchers::ContainsSubstring;
  CHECK(said(added(), kTiles + kRest + "prefetch").empty());
  CHECK_THAT(said(added(24, 0), kTiles + kRest + "prefetch"), ContainsSubstring("nothing is added to the result"));
  CHECK_THAT(said(added(), kTiles + kRest + "prefetch A"), ContainsSubstring("operands are prefetched on a CPU alone"));
  CHECK_THAT(said(added(), kTiles + kRest + "prefetch 2"), ContainsSubstring("a number of tiles"));
  CHECK_THAT(said(added(24, 1, 12, 7, 23),
                  "tile b:2; tile c:3; tile d:5; order task b0 c0 d0;"
                  "stage A at d0 async a b c; stage B at d0 async a d e;"
                  "atom fma rows b c columns d e depth a warps 1x4 runs 2x4x1; prefetch"),
             ContainsSubstring("begin and end at multiples of 16 bytes"));
  CHECK_THAT(said(added(),
                  "join de d e; tile b:4:2; tile de:64; order task b0 de0 serial b1;"
                  "stage A at b1 async a b c; stage B at de0 async a de;"
                  "atom fma rows b c columns de depth a warps 1x4 runs 2x4x1; pipeline b1 2; prefetch"),
             ContainsSubstring("joined indices"));
  CHECK_THAT(said(added(48),
                  "tile b:2; tile d:5; tile a:24:24; order task b0 d0 cluster a0 sum a1;"
                  "stage A at a1 async a b c; stage B at a1 async a d e;"
                  "atom fma rows b c columns d e depth a warps 1x4 runs 2x4x1; prefetch"),
             ContainsSubstring("a task's results are its own"));
}

}  // namespace kernel_prefetch_gpu_test
