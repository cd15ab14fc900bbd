// Shared memory of the kernels that the model chooses for contractions on a GPU: wavefronts over those of the same
// words spread evenly over the banks, counted by the kernel interpreter over the first, second and last tasks.
#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "contraction_program.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/build.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/schedule.hpp"
#include "lower/einsum.hpp"
#include "plan/enumerate/contraction.hpp"

namespace plan_wavefronts_test {

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
  plan::ContractionCounts predicted;
};

/// whole: all tiles of each index are there.
Chosen chosen(const Problem& problem, bool whole = false) {
  ir::EinsumProblem einsum;
  einsum.spec = Spec::parse(problem.spec);
  einsum.inputs = {Layout::row_major(problem.type, problem.extents.at(0)),
                   Layout::row_major(problem.type, problem.extents.at(1))};
  einsum.output = Layout::row_major(problem.type, problem.extents.at(2));
  const auto program = ir::canonicalise(ir::lower(einsum));
  // None of them by tensor maps, whose copies no thread makes.
  const auto list = plan::contraction_candidates(program, plan::GpuModel::of_capability(90));
  REQUIRE(!list.empty());
  const auto& best = list.front();
  const ir::Program counted = whole ? ir::Program(program) : shortened(program, best.schedule);
  const auto tree = kernel::expand(kernel::build(counted, best.schedule, kernel::Target::cuda));
  constexpr std::int64_t kSteps = 40'000'000;
  return {best.schedule.name, kernel::count_elements(tree, kSteps), *best.counts};
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
    const auto [name, counts, predicted] = chosen(problem);
    INFO(problem.spec << ": " << name);
    const auto& read = counts.read_from(kernel::Space::shared);
    const auto& written = counts.written_to(kernel::Space::shared);
    CHECK(over_ideal(read) <= 1.1);
    CHECK(static_cast<double>(read.units + written.units) <= 1.1 * static_cast<double>(read.ideal + written.ideal));
    // Rows of 24 elements that are parted for reads of single elements are copied to in 5 wavefronts for 4.
    CHECK(over_ideal(written) <= 1.25);
  }
}

TEST_CASE("results pass through shared memory within 1.1 of the fewest wavefronts") {
  // Their neighbours in memory are apart in the tile: 16, in rows of which each is 16 from the next.
  const Problem kProblems[] = {
      {"afbce,df->edcba", {{48, 48, 32, 32, 48}, {24, 48}, {48, 24, 32, 32, 48}}, DType::f64},
  };
  for (const auto& problem : kProblems) {
    const auto [name, counts, predicted] = chosen(problem);
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

TEST_CASE("what the model counts of a contraction is what its kernel does") {
  const Problem kProblems[] = {
      {"ac,cb->ab", {{192, 96}, {96, 128}, {192, 128}}, DType::f64},
      {"abc,cbd->da", {{96, 8, 16}, {16, 8, 96}, {96, 96}}, DType::f64},
      {"gac,gcb->gab", {{3, 64, 64}, {3, 64, 64}, {3, 64, 64}}, DType::f64},
      {"ac,cb->ab", {{64, 4096}, {4096, 64}, {64, 64}}, DType::f64},
      {"ca,cb->ab", {{32, 2048}, {32, 2048}, {2048, 2048}}, DType::f32},
      {"ac,cb->ab", {{128, 128}, {128, 128}, {128, 128}}, DType::bf16},
  };
  for (const auto& problem : kProblems) {
    const auto [name, counts, predicted] = chosen(problem, true);
    INFO(problem.spec << ": " << name);
    // Of one of the blocks, which are all alike.
    const auto of_block = [&, tasks = counts.tasks](std::int64_t all) {
      return static_cast<double>(all) / static_cast<double>(tasks);
    };
    const auto& read = counts.read_from(kernel::Space::shared);
    const auto& written = counts.written_to(kernel::Space::shared);
    const double stored = predicted.stored_wavefronts;  // once each way
    const auto is_near = [](double counted, double model) { CHECK(std::abs(counted - model) <= 0.02 * model); };
    is_near(of_block(32 * counts.read_from(kernel::Space::global).units), predicted.copied_bytes / predicted.blocks);
    is_near(of_block(read.units), predicted.rounds * predicted.fragment_wavefronts + stored / 2);
    // Rows of 16-bit numbers are padded for the reads of matrices, and meet in two wavefronts where they are copied to.
    const double meet = problem.type == DType::bf16 ? 2 : 1;
    is_near(of_block(written.units), meet * predicted.rounds * predicted.copied_wavefronts + stored / 2);
  }
}

TEST_CASE("what a thread has planned before changes no prediction") {
  // Vectors along the depth take longer to read in long sums than in short ones, by as many warps.
  const auto us_of = [](const std::vector<std::int64_t>& terms) {
    double us = 0;
    std::thread([&] {
      for (const auto k : terms) {
        const auto program = tests::contraction("ak,bk->ab", {{4096, k}, {64, k}, {4096, 64}}, DType::f32);
        us = plan::best_contraction(program, plan::GpuModel::of_capability(90))->predicted_us;
      }
    }).join();
    return us;
  };
  CHECK(us_of({16, 324}) == us_of({324}));
  CHECK(us_of({324, 16}) == us_of({16}));
}

}  // namespace plan_wavefronts_test
