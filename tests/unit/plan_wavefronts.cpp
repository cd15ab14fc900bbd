// Shared memory of the kernels that the model chooses for contractions on a GPU: wavefronts over those of the same
// words spread evenly over the banks, counted by the kernel interpreter over the first, second and last tasks.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/build.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/schedule.hpp"
#include "lower/einsum.hpp"
#include "plan/enumerate/contraction.hpp"

using namespace ricci;

namespace {

struct Problem {
  const char* spec;
  std::vector<std::vector<std::int64_t>> extents;  ///< of both operands and the result
  DType type;
};

/// With two tiles of each index, and what is left over: blocks do the same in all others.
ir::Program shortened(ir::Program program, const kernel::Schedule& schedule) {
  for (auto& index : program.indices) {
    for (const auto& directive : schedule.directives) {
      if (directive.kind != kernel::Directive::Kind::tile || directive.subject != index.name) continue;
      const auto tile = directive.sizes.front();
      index.extent -= std::max<std::int64_t>(index.extent / tile - 2, 0) * tile;
    }
  }
  return program;
}

struct Chosen {
  std::string name;
  kernel::Counts counts;
};

Chosen chosen(const Problem& problem) {
  ir::EinsumProblem einsum;
  einsum.spec = Spec::parse(problem.spec);
  einsum.inputs = {Layout::row_major(problem.type, problem.extents.at(0)),
                   Layout::row_major(problem.type, problem.extents.at(1))};
  einsum.output = Layout::row_major(problem.type, problem.extents.at(2));
  const auto program = ir::canonicalise(ir::lower(einsum));
  const auto best = plan::best_contraction(program, plan::GpuModel::of_capability(90));
  REQUIRE(best.has_value());
  const auto tree =
      kernel::expand(kernel::build(shortened(program, best->schedule), best->schedule, kernel::Target::cuda));
  constexpr std::int64_t kSteps = 4'000'000;
  return {best->schedule.name, kernel::count_elements(tree, kSteps)};
}

double over_ideal(const kernel::Counts::Moved& moved) {
  return static_cast<double>(moved.units) / static_cast<double>(moved.ideal);
}

const std::vector<std::int64_t> kFour = {72, 72, 72, 72};

}  // namespace

TEST_CASE("tiles for tensor cores are copied and read within 1.1 of the fewest wavefronts") {
  const Problem kProblems[] = {
      {"fdea,cebf->dcba", {kFour, kFour, kFour}, DType::f64},
      {"dca,cbd->ba", {{312, 296, 312}, {296, 296, 312}, {296, 312}}, DType::f64},
      {"baeg,cgfd->fedcba", {{16, 24, 16, 24}, {16, 24, 16, 24}, {16, 16, 24, 16, 16, 24}}, DType::f64},
  };
  for (const auto& problem : kProblems) {
    const auto [name, counts] = chosen(problem);
    INFO(problem.spec << ": " << name);
    CHECK(over_ideal(counts.read_from(kernel::Space::shared)) <= 1.1);
    CHECK(over_ideal(counts.written_to(kernel::Space::shared)) <= 1.1);
  }
}

TEST_CASE("results pass through shared memory within 1.1 of the fewest wavefronts") {
  // Their neighbours in memory are apart in the tile: 16, in rows of which each is 16 from the next.
  const Problem kProblems[] = {
      {"afbce,df->edcba", {{48, 48, 32, 32, 48}, {24, 48}, {48, 24, 32, 32, 48}}, DType::f64},
  };
  for (const auto& problem : kProblems) {
    const auto [name, counts] = chosen(problem);
    INFO(problem.spec << ": " << name);
    CHECK(name.find("via shared") != std::string::npos);
    const auto& read = counts.read_from(kernel::Space::shared);
    const auto& written = counts.written_to(kernel::Space::shared);
    CHECK(static_cast<double>(read.units + written.units) <= 1.1 * static_cast<double>(read.ideal + written.ideal));
  }
}

TEST_CASE("what takes more wavefronts takes no more than is known") {
  // Elements copied one by one across rows of shared memory, which the model charges for: 3.33.
  const auto scattered = chosen({"bfae,cedf->dcba", {kFour, kFour, kFour}, DType::f64});
  INFO(scattered.name);
  CHECK(over_ideal(scattered.counts.read_from(kernel::Space::shared)) <= 1.1);
  CHECK(over_ideal(scattered.counts.written_to(kernel::Space::shared)) <= 3.4);
  // Multiply-adds that read vectors along the depth: 1.75.
  const auto multiplied =
      chosen({"bged,cafg->fedcba", {{20, 24, 20, 24}, {20, 24, 20, 24}, {20, 20, 24, 20, 20, 24}}, DType::f32});
  INFO(multiplied.name);
  CHECK(over_ideal(multiplied.counts.read_from(kernel::Space::shared)) <= 1.8);
}
